import { columnMappingMode, physicalName } from '../schema/mapping.js';
import { parsePartitionValue } from '../schema/partition-value.js';
import type { DataType, Datum } from '../schema/types.js';
import { compareDatum } from '../schema/value.js';
import type { State } from '../snapshot/state.js';
import { liveAmount } from '../write/plan.js';
import { bytesText, countText } from './render/bytes.js';
import { chartLines } from './render/chart.js';
import { oneLine, tableLines } from './render/table.js';
import type { Paint } from './terminal.js';

/** One partition as `partitions --json` tells it; values by logical name, as the log spells them. */
export interface PartitionRecord {
  readonly values: Readonly<Record<string, string | null>>;
  readonly files: number;
  readonly rows?: number;
  readonly bytes: number;
}

/** The partitions in the order of their values, NULL first. Reads the log alone. */
export async function partitionRecords(state: State, signal: AbortSignal): Promise<PartitionRecord[]> {
  const { files, metadata, protocol, schema } = state;
  await files.load({ statistics: true, actions: true }, { signal });
  const mode = columnMappingMode(metadata, protocol);
  const columns = metadata.partitionColumns.map((name) => {
    const field = schema.fields.find((candidate) => candidate.name === name)!;
    return { name, type: field.dataType, column: files.partition(physicalName(field, mode)) };
  });
  const ids = new Map<string, number[]>();
  for (const id of files.ids()) {
    const key = columns.map(({ column }) => column?.codes[id] ?? -1).join(' ');
    const known = ids.get(key);
    if (known) known.push(id);
    else ids.set(key, [id]);
  }
  const found = [...ids.values()].map((some) => {
    const raws = columns.map(({ column }) => column?.values[column.codes[some[0]!]!] ?? null);
    const record: PartitionRecord = {
      values: Object.fromEntries(columns.map(({ name }, i) => [name, raws[i]!])),
      ...liveAmount(state, some),
    };
    return { record, key: raws.map((raw, i) => sortable(columns[i]!.type, raw)) };
  });
  const types = columns.map(({ type }) => type);
  return found.sort((a, b) => compareKeys(types, a.key, b.key)).map(({ record }) => record);
}

/** The partitions for people. */
export function partitionLines(state: State, records: readonly PartitionRecord[], paint: Paint): string[] {
  const names = state.metadata.partitionColumns;
  const columns = [
    ...names.map((title) => ({ title })),
    ...['rows', 'files', 'bytes'].map((title) => ({ title, align: 'right' as const })),
  ];
  const rows = records.map(({ values, rows: count, files, bytes }) => [
    ...names.map((name) => valueText(values[name] ?? null)),
    count === undefined ? '-' : countText(count),
    countText(files),
    bytesText(bytes),
  ]);
  return tableLines(columns, rows, paint);
}

/** Rows a partition as a chart; partitions without a count are left out. */
export function partitionChart(records: readonly PartitionRecord[], width: number, paint: Paint): string[] {
  const bars = records.flatMap(({ values, rows }) => {
    const label = Object.values(values).map(valueText).join('/') || 'all';
    return rows === undefined ? [] : [{ label, value: rows }];
  });
  const columns = Object.keys(records[0]?.values ?? {}).join('/') || 'table';
  return [`rows by ${columns}`, ...chartLines(bars, width, 10, paint)];
}

function valueText(value: string | null): string {
  return value === null ? 'NULL' : oneLine(value);
}

/** The typed value, or the text where it cannot be read as its type. */
function sortable(type: DataType, raw: string | null): Datum | { readonly text: string } {
  try {
    return parsePartitionValue(type, raw);
  } catch {
    return { text: raw ?? '' };
  }
}

type Sortable = ReturnType<typeof sortable>;

function compareKeys(types: readonly DataType[], a: readonly Sortable[], b: readonly Sortable[]): number {
  for (const [i, type] of types.entries()) {
    const order = compareValues(type, a[i]!, b[i]!);
    if (order !== 0) return order;
  }
  return 0;
}

function compareValues(type: DataType, a: Sortable, b: Sortable): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  const [textA, textB] = [unread(a), unread(b)];
  if (textA !== undefined || textB !== undefined) return (textA ?? '').localeCompare(textB ?? '', 'en');
  return compareDatum(type, a as Datum, b as Datum);
}

function unread(value: Sortable): string | undefined {
  return typeof value === 'object' && value !== null && 'text' in value
    ? (value as { text: string }).text
    : undefined;
}
