import { basename, dirname, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { TableError } from '../../errors.js';
import { toRecordBatch } from '../../parquet/arrow-data.js';
import { leavesOf, resolveColumns } from '../../parquet/column/read-tree.js';
import { FlatFault } from '../../parquet/flat/fault.js';
import type { Footer, SchemaNode } from '../../parquet/flat/footer.js';
import { readFooter } from '../../parquet/flat/read.js';
import { decodeRowGroup, fetchRowGroup } from '../../parquet/read.js';
import { StoreSource } from '../../parquet/source.js';
import type { Context } from '../../runtime/context.js';
import { abortError } from '../../runtime/system.js';
import { toArrowSchema } from '../../schema/arrow.js';
import type { StructType } from '../../schema/types.js';
import { LocalStore } from '../../store/local.js';
import { fileSize, STDIN_NAME, spool } from './bytes.js';
import { schemaOfParquet, withSmallUnsigned } from './parquet-schema.js';
import type { Input } from './source.js';

/** A Parquet file, decoded one row group at a time; standard input goes through a file of its own first, since Parquet is read from its end. */
export async function openParquet(
  ctx: Context,
  file: string,
  stdin: Readable,
  signal: AbortSignal,
): Promise<Input> {
  const name = file === '-' ? STDIN_NAME : file;
  const spooled = file === '-' ? await spool(stdin, signal) : undefined;
  const path = spooled?.path ?? file;
  const size = await fileSize(path);
  const store = new LocalStore(ctx, dirname(resolve(path)));
  const source = new StoreSource(store, basename(path), size, { signal });
  let known: { footer: Footer; root: SchemaNode; schema: StructType } | undefined;
  const open = async (): Promise<NonNullable<typeof known>> => {
    if (known === undefined) {
      const footer = await readFooter(source).catch((error: unknown) => {
        throw inputError(error, name);
      });
      const root = withSmallUnsigned(footer.root);
      known = { footer, root, schema: schemaOfParquet(root, name) };
    }
    return known;
  };
  return {
    name,
    size,
    repeatable: true,
    describesItself: true,
    schema: async () => (await open()).schema,
    async *batches(_wanted, onBytes, reading) {
      const { footer, root, schema } = await open();
      const nodes = resolveColumns(root, schema.fields, 'none');
      const columns = new Set<number>();
      for (const node of nodes) leavesOf(node, columns);
      const fetch = (group: number) => fetchRowGroup(source, footer, group, nodes);
      let next = footer.rowGroups.length > 0 ? fetch(0) : undefined;
      for (let group = 0; group < footer.rowGroups.length; group++) {
        if (reading.aborted) throw abortError(reading);
        const { chunks, rows } = footer.rowGroups[group]!;
        const task = await next!;
        next = group + 1 < footer.rowGroups.length ? fetch(group + 1) : undefined;
        next?.catch(() => undefined);
        try {
          yield toRecordBatch(toArrowSchema(schema), decodeRowGroup(task), rows);
        } catch (error) {
          throw inputError(error, name);
        }
        let bytes = 0;
        for (const column of columns) bytes += chunks[column]!.length;
        onBytes(bytes);
      }
    },
    close: async () => spooled?.remove(),
  };
}

function inputError(error: unknown, file: string): unknown {
  const isFault = error instanceof FlatFault || error instanceof RangeError;
  if (!isFault && !(error instanceof TableError && error.code === 'CORRUPT_DATA_FILE')) return error;
  return new TableError(
    'INVALID_INPUT',
    `The input ${file} cannot be read as Parquet: ${error.message.replace(/\.$/, '')}.`,
    { file },
    error,
  );
}
