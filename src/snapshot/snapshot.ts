import type { AddAction, ProtocolAction } from '../log/actions.js';
import type { TableContext } from '../runtime/table-context.js';
import { countRows } from '../scan/count.js';
import type { Predicate } from '../scan/predicate.js';
import { Scan, type ScanOptions } from '../scan/scan.js';
import { columnMappingMode, physicalName } from '../schema/mapping.js';
import type { StructType } from '../schema/types.js';
import type { State } from './state.js';

/** One partition of a snapshot: its values by logical column name, as the log spells them, and what it holds. */
export interface PartitionSummary {
  readonly values: Readonly<Record<string, string | null>>;
  readonly files: number;
  /** Undefined where a file has no count of rows. */
  readonly rows: number | undefined;
  readonly bytes: number;
}

/** A table at one version, for good: what other writers commit does not show here. */
export class Snapshot {
  readonly #table: TableContext;
  readonly #state: State;

  constructor(table: TableContext, state: State) {
    this.#table = table;
    this.#state = state;
  }

  get url(): string {
    return this.#table.url;
  }
  get version(): number {
    return this.#state.version;
  }
  /** When the version was committed, milliseconds since the Unix epoch. */
  get timestamp(): number {
    return this.#state.timestamp;
  }
  get id(): string {
    return this.#state.metadata.id;
  }
  get name(): string | undefined {
    return this.#state.metadata.name ?? undefined;
  }
  get description(): string | undefined {
    return this.#state.metadata.description ?? undefined;
  }
  get schema(): StructType {
    return this.#state.schema;
  }
  get partitionColumns(): readonly string[] {
    return this.#state.metadata.partitionColumns;
  }
  get properties(): Readonly<Record<string, string>> {
    return this.#state.metadata.configuration;
  }
  get protocol(): ProtocolAction {
    return this.#state.protocol;
  }
  /** The number of live files. */
  get fileCount(): number {
    return this.#state.files.count;
  }
  /** The bytes of the live files. */
  get size(): number {
    return this.#state.files.totalSize();
  }
  /** The newest version that each application recorded with its writes. */
  get appTransactions(): ReadonlyMap<string, number | bigint> {
    return new Map([...this.#state.txns].map(([appId, txn]) => [appId, txn.version]));
  }
  /** What the rooms below work on. */
  get state(): State {
    return this.#state;
  }

  /** The live files, as the log tells them. */
  async files(): Promise<AddAction[]> {
    const { files } = this.#state;
    await files.load({ statistics: true, actions: true });
    return Array.from(files.ids(), (id) => files.add(id));
  }

  /** The partitions that hold files, in no particular order; for an unpartitioned table, one without values. Reads the log alone. */
  async partitions(): Promise<PartitionSummary[]> {
    const { files, metadata, protocol, schema } = this.#state;
    await files.load({ statistics: true, actions: true });
    const mode = columnMappingMode(metadata, protocol);
    const columns = metadata.partitionColumns.map((name) => {
      const field = schema.fields.find((candidate) => candidate.name === name)!;
      return { name, column: files.partition(physicalName(field, mode)) };
    });
    const found = new Map<
      string,
      { values: Record<string, string | null>; files: number; rows: number | undefined; bytes: number }
    >();
    for (const id of files.ids()) {
      const codes = columns.map(({ column }) => column?.codes[id] ?? -1);
      const key = codes.join(' ');
      let summary = found.get(key);
      if (!summary) {
        const values = columns.map(
          ({ name, column }, i) => [name, column?.values[codes[i]!] ?? null] as const,
        );
        summary = { values: Object.fromEntries(values), files: 0, rows: 0, bytes: 0 };
        found.set(key, summary);
      }
      const rows = liveRows(this.#state, id);
      summary.files++;
      summary.bytes += files.size(id);
      summary.rows = summary.rows === undefined || rows === undefined ? undefined : summary.rows + rows;
    }
    return [...found.values()];
  }

  /** A planned read of this snapshot; nothing is read before it is iterated. */
  scan(options: ScanOptions = {}): Scan {
    return new Scan(this.#table, async () => this.#state, options);
  }

  /** The exact number of rows, or of those for which `where` is true; from the log alone where that is exact. */
  count(
    options: { readonly where?: string | Predicate; readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    return countRows(this.#table.store, this.#table.ctx, this.#state, options);
  }
}

function liveRows(state: State, id: number): number | undefined {
  const rows = state.files.numRecords(id);
  if (rows === undefined || !state.files.hasDeletionVector(id)) return rows;
  return rows - (state.files.add(id).deletionVector?.cardinality ?? 0);
}
