import { TableError } from '../../errors.js';

/** The formats that `import` reads. */
export const INPUT_FORMATS = ['parquet', 'ndjson', 'csv', 'arrow'] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

const BY_EXTENSION: Readonly<Record<string, InputFormat>> = {
  parquet: 'parquet',
  pq: 'parquet',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'ndjson',
  csv: 'csv',
  arrow: 'arrow',
  arrows: 'arrow',
  ipc: 'arrow',
  feather: 'arrow',
};

/** The format of a file: the one stated, or the one that its name ends in. Throws `INVALID_INPUT` where neither says. */
export function formatOf(name: string, stated: InputFormat | undefined): InputFormat {
  if (stated !== undefined) return stated;
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase();
  const found =
    extension !== undefined && Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
  if (found !== undefined) return found;
  const what =
    name === '-' ? 'Standard input has no name' : `The name '${name}' does not say what the file is`;
  throw new TableError('INVALID_INPUT', `${what}: give --format ${INPUT_FORMATS.join('|')}.`, { file: name });
}
