import type { Row } from '../schema/rows-in.js';
import type { StructType } from '../schema/types.js';

/** Rows that are to be committed together, with the promise of their commit. */
export class RowBatch {
  readonly rows: Row[] = [];
  /** Of the rows, by estimate. */
  bytes = 0;
  /** The version of the last row. */
  last: number | undefined;
  /** The columns that the rows need, where the table lacks some. */
  evolveTo: StructType | undefined;
  /** True once they have waited for as long as they may. */
  due = false;
  /** Fires when the batch need not wait any longer. */
  readonly sealed = new AbortController();
  /** The table's version that holds the rows. */
  readonly committed: Promise<number>;
  resolve: (version: number) => void = () => undefined;
  reject: (error: unknown) => void = () => undefined;

  constructor() {
    this.committed = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Who writes rows need not look at this promise: a failure shows at the next call too.
    this.committed.catch(() => undefined);
  }

  add(row: Row, version: number | undefined): void {
    this.rows.push(row);
    this.bytes += roughBytes(row);
    this.last = version;
  }
}

function roughBytes(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let bytes = 8;
  for (const member of Array.isArray(value) ? value : Object.values(value)) bytes += roughBytes(member);
  return bytes;
}
