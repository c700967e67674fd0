import type { TableContext } from '../runtime/table-context.js';
import { decodePath } from '../schema/path.js';

/** Deletes files that are proved to be in no commit. A failure leaves them, invisible, for vacuum, and is told as an event. */
export async function discardFiles(table: TableContext, paths: readonly string[]): Promise<void> {
  await Promise.all(
    paths.map(async (path) => {
      try {
        await table.store.delete(decodePath(path));
      } catch (error) {
        table.ctx.emit({
          type: 'warning',
          message: `A staged file could not be deleted: ${String(error)}`,
          file: path,
        });
      }
    }),
  );
}
