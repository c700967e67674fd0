import type { AddAction } from '../log/actions.js';
import { leafValue, listOrMap } from '../log/checkpoint-rows.js';
import type { FlatFile } from '../log/checkpoint-source.js';
import { encodeUtf8 } from '../parquet/flat/byte-text.js';
import { type ByteValues, type FlatColumn, numbersOf, textAt } from '../parquet/flat/column.js';
import { corrupt } from '../parquet/flat/fault.js';
import type { Leaf, SchemaNode } from '../parquet/flat/footer.js';
import type { Interner } from '../parquet/flat/interner.js';
import { type AddLeaves, leavesOf } from './add-leaves.js';
import { type Aligned, align, partitionCodes, placeOf, textMaps } from './align.js';
import type { AddExtra, FileBlock } from './block.js';
import { mergedStatistics, NO_SPANS, spansOf } from './checkpoint-statistics.js';
import { jsonStatistics, type StatsSpan, type StatsSpans } from './json-statistics.js';
import type { PartitionValues } from './partition-values.js';
import { PathIndex, type PathSpans } from './path-index.js';
import { type PathKey, scanPaths } from './path-scan.js';
import type { FileSetNeeds } from './state.js';
import type { ColumnTokens, StatisticsSource } from './statistics.js';
import { type StructLeaf, structStatistics } from './struct-statistics.js';
import { typedText } from './typed-text.js';
import { vectorId } from './vector-id.js';

/** Looks for a few paths that are made by scanning before the index of paths is worth its cost, and how many a few are. */
const SCANS = 3;
const MAX_SCANNED = 1024;

/** The adds of one row group. */
export class CheckpointBlock implements FileBlock {
  readonly count: number;
  readonly bytes: number;
  readonly columns: readonly (Int32Array | undefined)[];
  readonly #file: FlatFile;
  readonly #group: number;
  readonly #leaves: AddLeaves;
  readonly #path: FlatColumn;
  readonly #sizes: Float64Array;
  readonly #times: Float64Array;
  readonly #columnsByLeaf = new Map<number, FlatColumn>();
  readonly #vector: { type: Aligned; name: Aligned; offset: Aligned | undefined } | undefined;
  #index: PathIndex | undefined;
  #scans = 0;
  #statistics: StatisticsSource | undefined;
  /** The JSON of statistics, where the checkpoint has it. */
  #jsonSpans: StatsSpans | undefined;
  #actions: ActionColumns | undefined;
  #loading: Promise<void> = Promise.resolve();

  /** `columns` are those of `leaves.opening`, dense, of the row group. Throws `FlatFault` where they do not make adds. */
  constructor(
    file: FlatFile,
    group: number,
    leaves: AddLeaves,
    columns: readonly FlatColumn[],
    partitions: PartitionValues,
  ) {
    this.#file = file;
    this.#group = group;
    this.#leaves = leaves;
    for (const column of columns) this.#columnsByLeaf.set(column.leaf.index, column);
    this.#path = this.#column(leaves.path) as FlatColumn;
    this.count = this.#path.present;
    this.#sizes = this.#numbers('size');
    this.#times = this.#numbers('modificationTime');
    this.bytes = this.#sizes.reduce((sum, size) => sum + size, 0);
    this.columns = this.#partitionCodes(partitions);
    this.#vector = this.#vectorColumns();
  }

  #column(leaf: Leaf | undefined): FlatColumn | undefined {
    return leaf && this.#columnsByLeaf.get(leaf.index);
  }

  #child(name: string): SchemaNode | undefined {
    return this.#leaves.node.children.find((child) => child.name === name);
  }

  #aligned(node: SchemaNode | undefined): Aligned | undefined {
    const column = this.#column(node?.leaf);
    return column && column.present > 0 ? align(column, this.#path) : undefined;
  }

  /** A number for each add; missing ones are 0, as other engines read them. */
  #numbers(name: string): Float64Array {
    const aligned = this.#aligned(this.#child(name));
    if (aligned === undefined) return new Float64Array(this.count);
    const numbers = numbersOf(aligned.column);
    if (aligned.places === undefined) return numbers;
    return Float64Array.from(aligned.places, (place) => (place < 0 ? 0 : (numbers[place] as number)));
  }

  #partitionCodes(partitions: PartitionValues): (Int32Array | undefined)[] {
    const map = listOrMap(this.#child('partitionValues'));
    const keys = this.#column(map?.key);
    const values = this.#column(map?.value);
    if (keys !== undefined && values !== undefined && keys.present > 0)
      return partitionCodes(keys, values, this.#path, partitions);
    const columns: (Int32Array | undefined)[] = [];
    for (const child of this.#child('partitionValues_parsed')?.children ?? []) {
      const aligned = this.#aligned(child);
      if (aligned === undefined) continue;
      const name = Buffer.from(child.name, 'utf8');
      const number = partitions.column(name, 0, name.length);
      const interner = partitions.interners[number] as Interner;
      columns[number] = Int32Array.from({ length: this.count }, (_, row) => {
        const place = placeOf(aligned, row);
        const text = place < 0 ? undefined : typedText(aligned.column, place, 'partition');
        return text === undefined ? 0 : interner.internText(text);
      });
    }
    return columns;
  }

  #vectorColumns(): { type: Aligned; name: Aligned; offset: Aligned | undefined } | undefined {
    const node = this.#child('deletionVector');
    const member = (name: string): Aligned | undefined =>
      this.#aligned(node?.children.find((child) => child.name === name));
    const type = member('storageType');
    const name = member('pathOrInlineDv');
    return type && name && { type, name, offset: member('offset') };
  }

  path(row: number): string {
    return textAt(this.#path, row) ?? '';
  }

  size(row: number): number {
    return this.#sizes[row] as number;
  }

  modificationTime(row: number): number {
    return this.#times[row] as number;
  }

  hasVector(row: number): boolean {
    return this.#vector !== undefined && placeOf(this.#vector.type, row) >= 0;
  }

  vectorId(row: number): string | undefined {
    if (this.#vector === undefined) return undefined;
    const { type, name, offset } = this.#vector;
    const place = placeOf(type, row);
    if (place < 0) return undefined;
    const namePlace = placeOf(name, row);
    const offsetPlace = offset === undefined ? -1 : placeOf(offset, row);
    return vectorId({
      storageType: textAt(type.column, place) ?? '',
      pathOrInlineDv: namePlace < 0 ? '' : (textAt(name.column, namePlace) ?? ''),
      offset: offsetPlace < 0 ? undefined : Number(leafValue((offset as Aligned).column, offsetPlace)),
    });
  }

  rowsOf(bytes: Uint8Array, start: number, length: number, hash: number, onRow: (row: number) => void): void {
    this.#index ??= new PathIndex(this.pathSpans());
    this.#index.rowsOf(bytes, start, length, hash, onRow);
  }

  matching(keys: readonly PathKey[], onRow: (key: number, row: number) => void): void {
    if (keys.length === 0) return;
    if (this.#index === undefined && keys.length < MAX_SCANNED && this.#scans++ < SCANS) {
      scanPaths(this.pathSpans(), keys, onRow);
      return;
    }
    keys.forEach(({ bytes, start, length, hash }, key) => {
      this.rowsOf(bytes, start, length, hash, (row) => onRow(key, row));
    });
  }

  /** The paths by row, without strings. */
  pathSpans(): PathSpans {
    const { values } = this.#path;
    if (values.kind === 'codes')
      return { count: this.count, values: values.dictionary, places: values.codes };
    if (values.kind !== 'bytes') throw corrupt('the path of adds is no string');
    const spans: ByteValues = values;
    return { count: this.count, values: spans, places: undefined };
  }

  loaded(need: keyof FileSetNeeds): boolean {
    return (need === 'actions' ? this.#actions : this.#statistics) !== undefined;
  }

  load(needs: FileSetNeeds): Promise<void> {
    const done = (): boolean =>
      (!needs.actions || this.loaded('actions')) &&
      (!(needs.actions || needs.statistics) || this.loaded('statistics'));
    if (done()) return Promise.resolve();
    // One load after the other, so that nothing is read twice; a failed one does not fail those behind it.
    this.#loading = this.#loading
      .catch(() => undefined)
      .then(async () => {
        if ((needs.statistics || needs.actions) && this.#statistics === undefined)
          await this.#loadStatistics();
        if (needs.actions && this.#actions === undefined) await this.#loadActions();
      });
    return this.#loading;
  }

  async #read(leaves: readonly Leaf[]): Promise<void> {
    const missing = leaves.filter((leaf) => !this.#columnsByLeaf.has(leaf.index));
    if (missing.length === 0) return;
    const columns = await this.#file.columns(missing, this.#group);
    for (const column of columns) this.#columnsByLeaf.set(column.leaf.index, column);
  }

  async #loadStatistics(): Promise<void> {
    const leaf = this.#child('stats')?.leaf;
    if (leaf !== undefined) await this.#read([leaf]);
    const text = this.#column(leaf);
    const json = text !== undefined && text.present > 0 ? align(text, this.#path) : undefined;
    this.#jsonSpans = json && spansOf(json, this.count);
    const parsed = this.#child('stats_parsed');
    if (parsed === undefined || (text !== undefined && text.present >= this.count)) {
      this.#statistics = jsonStatistics(this.#jsonSpans ?? NO_SPANS);
      return;
    }
    const leaves = leavesOf(parsed).filter((candidate) => candidate.maxRepetition === 0);
    await this.#read(leaves);
    const structs: StructLeaf[] = leaves.map((candidate) => ({
      path: candidate.path.slice(2),
      aligned: align(this.#column(candidate) as FlatColumn, this.#path),
    }));
    this.#statistics = mergedStatistics(
      json,
      jsonStatistics(this.#jsonSpans ?? NO_SPANS),
      structStatistics(structs),
    );
  }

  async #loadActions(): Promise<void> {
    const skipped = new Set(['stats_parsed', 'partitionValues_parsed', 'stats']);
    const children = this.#leaves.node.children.filter((child) => !skipped.has(child.name));
    await this.#read(children.flatMap(leavesOf));
    const map = listOrMap(this.#child('tags'));
    const keys = this.#column(map?.key);
    const values = this.#column(map?.value);
    const partitions = listOrMap(this.#child('partitionValues'));
    const partitionKeys = this.#column(partitions?.key);
    const partitionValues = this.#column(partitions?.value);
    const plain = (nodes: readonly SchemaNode[]): [string, Aligned][] =>
      nodes.flatMap((node) => {
        const aligned = this.#aligned(node);
        return aligned === undefined ? [] : [[node.name, aligned] as [string, Aligned]];
      });
    this.#actions = {
      tags: keys && values ? textMaps(keys, values, this.#path) : new Map(),
      partitions:
        partitionKeys && partitionValues && partitionKeys.present > 0
          ? textMaps(partitionKeys, partitionValues, this.#path)
          : undefined,
      members: plain(
        children.filter((child) => !['path', 'size', 'modificationTime', 'dataChange'].includes(child.name)),
      ),
      dataChange: this.#aligned(this.#child('dataChange')),
      vector: plain(this.#child('deletionVector')?.children ?? []),
    };
  }

  add(row: number): AddAction {
    const columns = this.#actions as ActionColumns;
    const stats = this.#statistics?.statsText(row);
    const members: [string, unknown][] = [
      ['path', this.path(row)],
      ['partitionValues', Object.fromEntries(columns.partitions?.get(row) ?? this.#parsedPartition(row))],
      ['size', this.size(row)],
      ['modificationTime', this.modificationTime(row)],
      ['dataChange', columns.dataChange !== undefined && cellOf(columns.dataChange, row) === true],
    ];
    if (stats !== undefined) members.push(['stats', stats]);
    members.push(...this.#extras(row));
    return Object.fromEntries(members) as unknown as AddAction;
  }

  extra(row: number): AddExtra | undefined {
    const { tags, members: some } = this.#actions as ActionColumns;
    if (tags.size === 0 && some.length === 0 && this.#vector === undefined) return undefined;
    const members = this.#extras(row);
    return members.length === 0 ? undefined : (Object.fromEntries(members) as AddExtra);
  }

  #extras(row: number): [string, unknown][] {
    const columns = this.#actions as ActionColumns;
    const members = present(columns.members, row);
    const tags = columns.tags.get(row);
    if (tags !== undefined) members.push(['tags', Object.fromEntries(tags)]);
    if (this.hasVector(row))
      members.push(['deletionVector', Object.fromEntries(present(columns.vector, row))]);
    return members;
  }

  #parsedPartition(row: number): [string, string | null][] {
    if (this.#actions?.partitions !== undefined) return [];
    return (this.#child('partitionValues_parsed')?.children ?? []).map((child) => {
      const aligned = this.#aligned(child);
      const place = aligned === undefined ? -1 : placeOf(aligned, row);
      return [
        child.name,
        place < 0 ? null : (typedText((aligned as Aligned).column, place, 'partition') ?? null),
      ];
    });
  }

  statsText(row: number): string | undefined {
    return this.#statistics?.statsText(row);
  }

  statsSpan(row: number): StatsSpan | undefined {
    const found = this.#jsonSpans?.span(row);
    if (found !== undefined) return found;
    const text = this.statsText(row);
    const bytes = text === undefined ? undefined : encodeUtf8(text);
    return bytes && { bytes, start: 0, end: bytes.length };
  }

  column(path: readonly string[]): ColumnTokens {
    return (this.#statistics as StatisticsSource).column(path);
  }

  numRecords(row: number): number | undefined {
    return this.#statistics?.numRecords(row);
  }
}

/** What only whole actions need. */
interface ActionColumns {
  readonly tags: ReadonlyMap<number, readonly [string, string | null][]>;
  readonly partitions: ReadonlyMap<number, readonly [string, string | null][]> | undefined;
  readonly dataChange: Aligned | undefined;
  readonly members: readonly [string, Aligned][];
  readonly vector: readonly [string, Aligned][];
}

function cellOf(aligned: Aligned, row: number): unknown {
  const place = placeOf(aligned, row);
  return place < 0 ? undefined : leafValue(aligned.column, place);
}

function present(members: readonly [string, Aligned][], row: number): [string, unknown][] {
  const out: [string, unknown][] = [];
  for (const [name, aligned] of members) {
    const value = cellOf(aligned, row);
    if (value !== undefined) out.push([name, value]);
  }
  return out;
}
