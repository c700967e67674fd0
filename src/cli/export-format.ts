import { TableError } from '../errors.js';

/** The formats that `export` writes. */
export const EXPORT_FORMATS = ['parquet', 'ndjson', 'csv', 'arrow'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The format stated, or the one that the file's name ends in. Throws `INVALID_INPUT` where neither says. */
export function exportFormat(output: string | undefined, stated: ExportFormat | undefined): ExportFormat {
  if (stated !== undefined) return stated;
  const extension = /\.([^./\\]+)$/.exec(output ?? '')?.[1]?.toLowerCase();
  const found = EXPORT_FORMATS.find((format) => format === extension);
  if (found !== undefined) return found;
  if (extension === 'jsonl') return 'ndjson';
  throw new TableError('INVALID_INPUT', `Say what to write: --format ${EXPORT_FORMATS.join('|')}.`, {
    output: output ?? null,
  });
}
