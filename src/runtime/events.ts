/** The operations of a store, as they are counted. */
export type StoreOperation =
  | 'get'
  | 'getRange'
  | 'head'
  | 'put'
  | 'putIfAbsent'
  | 'list'
  | 'delete'
  | 'createMultipart'
  | 'putPart'
  | 'completeMultipart'
  | 'abortMultipart';

/** One request as it went over the wire (for local and memory stores: one operation). Sizes in bytes, times in milliseconds. */
export interface RequestEvent {
  readonly type: 'request';
  readonly store: string;
  readonly operation: StoreOperation;
  readonly key: string;
  readonly received: number;
  readonly sent: number;
  readonly ms: number;
  readonly outcome: 'ok' | 'missing' | 'exists' | 'ambiguous' | 'failed';
}

/** What happens inside, for progress bars, logs, counts and tests. Listeners must not throw. */
export type RuntimeEvent =
  | RequestEvent
  | {
      readonly type: 'retry';
      readonly operation: StoreOperation;
      readonly key: string;
      readonly attempt: number;
      readonly delayMs: number;
      readonly reason: string;
    }
  | { readonly type: 'rowsStaged'; readonly rows: number }
  | { readonly type: 'fileStaged'; readonly path: string; readonly rows: number; readonly bytes: number }
  | { readonly type: 'spilled'; readonly bytes: number }
  | { readonly type: 'workerReplaced'; readonly reason: 'trap' | 'memory' }
  | { readonly type: 'conflict'; readonly version: number; readonly attempt: number }
  | {
      readonly type: 'committed';
      readonly url: string;
      readonly version: number;
      readonly operation: string;
      readonly attempts: number;
    }
  | {
      readonly type: 'snapshotLoaded';
      readonly url: string;
      readonly version: number;
      readonly files: number;
      readonly ms: number;
    }
  | { readonly type: 'checkpointWritten'; readonly version: number; readonly bytes: number }
  | { readonly type: 'checkpointFailed'; readonly version: number; readonly error: unknown }
  | { readonly type: 'fileRead'; readonly path: string; readonly rows: number }
  | { readonly type: 'warning'; readonly message: string; readonly file?: string };
