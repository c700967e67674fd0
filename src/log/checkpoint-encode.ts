import { CREATED_BY } from '../parquet/encode.js';
import { decodeUtf8 } from '../parquet/flat/byte-text.js';
import { CODEC } from '../parquet/flat/codec.js';
import { assembleFile, type WrittenGroup } from '../parquet/flat/write/file.js';
import { LeafWriter } from '../parquet/flat/write/leaf-writer.js';
import { leavesOf, type WriteLeaf, type WriteNode } from '../parquet/flat/write/schema.js';
import { parsePartitionValue } from '../schema/partition-value.js';
import { datumFromJsonToken } from '../schema/statistic-value.js';
import type { DataType, Datum } from '../schema/types.js';
import type { AddExtra } from '../snapshot/block.js';
import { liveColumns } from '../snapshot/bulk.js';
import type { BlockFileSet } from '../snapshot/files.js';
import type { State } from '../snapshot/state.js';
import { type CheckpointShape, checkpointShape } from './checkpoint-schema.js';
import { shredRow, writeMap, writeValue } from './checkpoint-shred.js';

/** Adds of one row group: few enough for their statistics to fit the bounds of every reader, many enough to compress well. */
const GROUP = 1 << 18;
/** Leaves of text that is read on demand alone; what opening needs is in a codec that unpacks faster. */
const SMALLER = new Set(['stats', 'schemaString']);
/** Leaves with few distinct values. */
const CODED = new Set(['key', 'value', 'element', 'storageType', 'clusteringProvider', 'provider']);

/** Members of adds beside tags and deletion vectors that only some tables use. */
const EXTRAS: ReadonlySet<string> = new Set(['baseRowId', 'defaultRowCommitVersion', 'clusteringProvider']);

/** The rows beside the adds, by the name of their action, in the order they are written. */
export type SmallRows = readonly (readonly [name: string, rows: readonly object[]])[];

/** Encodes a checkpoint; `files` must have been loaded with their actions. Gives the pieces of the file in order and the number of rows. */
export async function encodeCheckpoint(
  state: State,
  files: BlockFileSet,
  small: SmallRows,
): Promise<{ pieces: Uint8Array[]; length: number; rows: number }> {
  const shape = checkpointShape(state);
  const leaves = leavesOf(shape.nodes);
  const smallCount = small.reduce((sum, [, rows]) => sum + rows.length, 0);
  const groups = Array.from({ length: Math.max(1, Math.ceil(files.count / GROUP)) }, (_, index) => {
    const adds = Math.min(GROUP, files.count - index * GROUP);
    return { adds, before: index === 0 ? smallCount : 0, writers: leaves.map(openWriter) };
  });
  const encoder = new AddEncoder(shape, leaves, groups, files);
  encoder.encode(state);
  let first = 0;
  for (const node of shape.nodes) {
    const count = leavesOf([node]).length;
    if (node.name !== 'add') for (const group of groups) writeSmall(node, first, count, group, small);
    first += count;
  }
  const codecs = leaves.map(codecOf);
  const written: WrittenGroup[] = [];
  for (const { adds, before, writers } of groups) {
    written.push({
      rows: adds + before,
      chunks: await Promise.all(writers.map((writer) => writer.finish())),
      codecs,
    });
  }
  return { ...assembleFile(shape.nodes, leaves, written, CREATED_BY), rows: files.count + smallCount };
}

interface Group {
  readonly adds: number;
  readonly before: number;
  readonly writers: readonly LeafWriter[];
}

function codecOf(leaf: WriteLeaf): number {
  return SMALLER.has(leaf.path.at(-1) as string) ? CODEC.gzip : CODEC.snappy;
}

function openWriter(leaf: WriteLeaf): LeafWriter {
  const name = leaf.path.at(-1) as string;
  const dictionary = leaf.type.kind === 'string' && leaf.path[1] !== 'stats_parsed' && CODED.has(name);
  return new LeafWriter({
    maxDefinition: leaf.maxDefinition,
    maxRepetition: leaf.maxRepetition,
    codec: codecOf(leaf),
    dictionary,
  });
}

/** The rows of one action other than `add`; all other rows of the group are null in its columns. */
function writeSmall(node: WriteNode, first: number, count: number, group: Group, small: SmallRows): void {
  const writers = group.writers.slice(first, first + count);
  const nulls = (rows: number): void => {
    for (const writer of writers) writer.nulls(rows, 0);
  };
  if (group.before > 0) {
    for (const [name, rows] of small) {
      if (name !== node.name) nulls(rows.length);
      else for (const row of rows) shredRow(node, row, { writers, next: 0 });
    }
  }
  nulls(group.adds);
}

class AddEncoder {
  readonly #shape: CheckpointShape;
  readonly #leaves: readonly WriteLeaf[];
  readonly #groups: readonly Group[];
  readonly #files: BlockFileSet;

  constructor(
    shape: CheckpointShape,
    leaves: readonly WriteLeaf[],
    groups: readonly Group[],
    files: BlockFileSet,
  ) {
    this.#shape = shape;
    this.#leaves = leaves;
    this.#groups = groups;
    this.#files = files;
  }

  /** The function that gives a leaf's writer for the next add, after the rows before the adds. */
  #column(...path: string[]): (() => LeafWriter) | undefined {
    const index = this.#leaves.findIndex(
      (leaf) =>
        leaf.path[0] === 'add' &&
        leaf.path.length === path.length + 1 &&
        path.every((name, i) => leaf.path[i + 1] === name),
    );
    if (index < 0) return undefined;
    const writers = this.#groups.map((group) => group.writers[index] as LeafWriter);
    for (const group of this.#groups) (group.writers[index] as LeafWriter).nulls(group.before, 0);
    let row = 0;
    return () => writers[Math.floor(row++ / GROUP)] as LeafWriter;
  }

  encode(state: State): void {
    const columns = liveColumns(this.#files);
    // Statistics first: the thread pool compresses them while the other columns are written.
    const stats = this.#column('stats');
    if (stats !== undefined) {
      columns.statistics((span) => {
        const writer = stats();
        writer.entry(0, span === undefined ? 1 : 2);
        if (span !== undefined) writer.bytes(span.bytes, span.start, span.end);
      });
    }
    this.#plain('path', (next) =>
      columns.paths((bytes, start, end) => {
        const writer = next();
        writer.entry(0, 2);
        writer.bytes(bytes, start, end);
      }),
    );
    const number = (each: (take: (value: number) => void) => void) => (next: () => LeafWriter) =>
      each((value) => {
        const writer = next();
        writer.entry(0, 2);
        writer.int64(value);
      });
    this.#plain('size', number(columns.sizes));
    this.#plain('modificationTime', number(columns.modificationTimes));
    this.#plain('dataChange', (next) => {
      for (let i = 0; i < columns.count; i++) {
        const writer = next();
        writer.entry(0, 2);
        writer.boolean(false);
      }
    });
    this.#partitionValues();
    const extras: (AddExtra | undefined)[] = [];
    let any = false;
    columns.extras((extra) => {
      any ||= extra !== undefined;
      extras.push(extra);
    });
    if (any) this.#extras(extras);
    else this.#noExtras();
    this.#typed(state, columns);
  }

  #plain(name: string, write: (next: () => LeafWriter) => void): void {
    const next = this.#column(name);
    if (next !== undefined) write(next);
  }

  #partitionValues(): void {
    const keys = this.#column('partitionValues', 'key_value', 'key');
    const values = this.#column('partitionValues', 'key_value', 'value');
    if (keys === undefined || values === undefined) return;
    const columns = this.#files.parts.partitionNames.map((name) => {
      const column = this.#files.partition(name);
      return {
        key: Buffer.from(name, 'utf8'),
        codes: column?.codes,
        values: (column?.values ?? [null]).map((value) =>
          value === null ? undefined : Buffer.from(value, 'utf8'),
        ),
      };
    });
    for (const id of this.#files.ids()) {
      const keyWriter = keys();
      const valueWriter = values();
      if (columns.length === 0) {
        keyWriter.entry(0, 2);
        valueWriter.entry(0, 2);
      }
      columns.forEach(({ key, codes, values: texts }, index) => {
        const value = texts[codes?.[id] ?? 0];
        keyWriter.entry(index === 0 ? 0 : 1, 3);
        keyWriter.bytes(key, 0, key.length);
        valueWriter.entry(index === 0 ? 0 : 1, value === undefined ? 3 : 4);
        if (value !== undefined) valueWriter.bytes(value, 0, value.length);
      });
    }
  }

  /** All adds are null in the columns that only some tables use. */
  #noExtras(): void {
    this.#leaves.forEach((leaf, index) => {
      const [top, name] = leaf.path;
      if (top !== 'add' || !(name === 'tags' || name === 'deletionVector' || EXTRAS.has(name ?? ''))) return;
      for (const group of this.#groups) {
        const writer = group.writers[index] as LeafWriter;
        writer.nulls(group.before, 0);
        writer.nulls(group.adds, 1);
      }
    });
  }

  #extras(extras: readonly (AddExtra | undefined)[]): void {
    const keys = this.#column('tags', 'key_value', 'key');
    const values = this.#column('tags', 'key_value', 'value');
    if (keys !== undefined && values !== undefined) {
      for (const extra of extras)
        writeMap(keys(), values(), extra?.tags ? Object.entries(extra.tags) : undefined, 1);
    }
    for (const leaf of this.#leaves) {
      const [top, name, member] = leaf.path;
      if (top !== 'add' || name === undefined) continue;
      if (member === undefined && !EXTRAS.has(name)) continue;
      if (member !== undefined && name !== 'deletionVector') continue;
      const next = this.#column(...leaf.path.slice(1)) as () => LeafWriter;
      for (const extra of extras) {
        const holder = extra?.[name as keyof AddExtra];
        const value =
          member === undefined ? holder : (holder as Record<string, unknown> | null | undefined)?.[member];
        const there = value !== undefined && value !== null;
        const writer = next();
        writer.entry(0, there ? leaf.maxDefinition : member !== undefined && holder ? 2 : 1);
        if (there) writeValue(writer, leaf.type, value);
      }
    }
  }

  /** The typed forms of partition values and statistics, where the table asks for them. */
  #typed(state: State, columns: ReturnType<typeof liveColumns>): void {
    const ids = this.#files.ids();
    for (const { name, dataType, type } of this.#shape.partitionColumns ?? []) {
      const next = this.#column('partitionValues_parsed', name);
      const column = this.#files.partition(name);
      if (next === undefined) continue;
      const typed = (column?.values ?? [null]).map((value) => partitionDatum(dataType, value));
      for (const id of ids) {
        const value = typed[column?.codes[id] ?? 0] ?? null;
        const writer = next();
        writer.entry(0, value === null ? 2 : 3);
        if (value !== null) writeValue(writer, type, value);
      }
    }
    if (this.#shape.statsColumns === undefined) return;
    const spans: boolean[] = [];
    const tight: (boolean | undefined)[] = [];
    columns.statistics((span) => {
      spans.push(span !== undefined);
      tight.push(span === undefined ? undefined : tightBounds(decodeUtf8(span.bytes, span.start, span.end)));
    });
    /** Writes one leaf of `stats_parsed`; a row without statistics is null as a whole. */
    const write = (path: readonly string[], value: (id: number, index: number) => unknown): void => {
      const leaf = this.#leaves.find(
        (candidate) =>
          candidate.path[1] === 'stats_parsed' &&
          candidate.path.length === path.length + 2 &&
          path.every((name, i) => candidate.path[i + 2] === name),
      );
      const next = this.#column('stats_parsed', ...path);
      if (leaf === undefined || next === undefined) return;
      ids.forEach((id, index) => {
        const found = spans[index] ? value(id, index) : undefined;
        const there = found !== undefined && found !== null;
        const writer = next();
        writer.entry(0, there ? leaf.maxDefinition : spans[index] ? leaf.maxDefinition - 1 : 1);
        if (there) writeValue(writer, leaf.type, found);
      });
    };
    write(['numRecords'], (id) => state.files.numRecords(id));
    for (const { path, dataType, bounds } of this.#shape.statsColumns) {
      const statistics = state.files.statistics(path);
      if (bounds !== undefined) {
        write(['minValues', ...path], (id) => tokenDatum(dataType, statistics.min(id)));
        write(['maxValues', ...path], (id) => tokenDatum(dataType, statistics.max(id)));
      }
      write(['nullCount', ...path], (id) => statistics.nullCount(id));
    }
    write(['tightBounds'], (_, index) => tight[index]);
  }
}

function partitionDatum(type: DataType, value: string | null): Datum {
  try {
    return parsePartitionValue(type, value);
  } catch {
    // What cannot be read as its type stays in `partitionValues`, as text.
    return null;
  }
}

/** As stored, not widened: the reader of the struct applies the same allowances as the reader of the JSON. */
function tokenDatum(type: DataType, token: string | undefined): Datum | undefined {
  return token === undefined ? undefined : datumFromJsonToken(type, token);
}

function tightBounds(stats: string): boolean | undefined {
  const found = /"tightBounds"\s*:\s*(true|false)/.exec(stats);
  return found === null ? undefined : found[1] === 'true';
}
