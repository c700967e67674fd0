import { printDdl } from '../schema/ddl.js';
import { columnMappingMode, physicalName } from '../schema/mapping.js';
import type { State } from '../snapshot/state.js';
import type { WritePlan } from '../write/plan.js';
import type { VerbName } from '../write/verb.js';
import { given } from './options.js';
import { counted, countText, durationText } from './render/bytes.js';
import { oneLine, pairLines } from './render/table.js';
import type { Paint } from './terminal.js';
import {
  amountText,
  type Recorded,
  type RowsDone,
  recordedText,
  rowsText,
  type VerbText,
} from './write-result.js';

type PartitionValues = Readonly<Record<string, string | null>>;

/** What `--dry-run` tells of a write that it did not do (spec/schema/plan.json). */
export interface PlanDocument extends Pick<WritePlan, 'added' | 'removed' | 'rewritten' | 'removedPaths'> {
  readonly dryRun: true;
  /** `planned` where there is something to commit. */
  readonly status: 'planned' | 'unchanged' | 'skipped';
  readonly verb: VerbText;
  readonly url: string;
  /** The version that the plan was made on; left out where the table would be created. */
  readonly version?: number;
  /** True where the table would be created. */
  readonly created: boolean;
  readonly rows: RowsDone;
  /** By logical column name, values as the log spells them. */
  readonly partitions: readonly PartitionValues[];
  /** The columns as DDL, where the write would change them. */
  readonly schema?: string;
  /** Of a skipped write: what the table has recorded. */
  readonly recorded?: Recorded;
  /** Milliseconds. */
  readonly ms: number;
}

/** Partitions named by hand where there are few enough. */
const PARTITIONS_SHOWN = 10;

/** A name of the library as the command line spells it. */
export function verbText(verb: VerbName): VerbText {
  return verb.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) as VerbText;
}

/** A plan as a document. `state` is the table as the plan found it. */
export function planDocument(
  url: string,
  verb: VerbName,
  plan: WritePlan,
  state: State,
  recordsToken: boolean,
): Omit<PlanDocument, 'ms'> {
  const { version, added, removed, rewritten, rows, removedPaths, schema } = plan;
  const isEmpty = added.files === 0 && removedPaths.length === 0 && schema === undefined && !recordsToken;
  const mode = columnMappingMode(state.metadata, state.protocol);
  const columns = state.schema.fields.filter(({ name }) => state.metadata.partitionColumns.includes(name));
  const logical = (values: PartitionValues): PartitionValues =>
    Object.fromEntries(columns.map((field) => [field.name, values[physicalName(field, mode)] ?? null]));
  return {
    dryRun: true,
    status: isEmpty ? 'unchanged' : 'planned',
    verb: verbText(verb),
    url,
    version,
    created: false,
    added,
    removed,
    rewritten,
    rows,
    removedPaths,
    partitions: plan.partitions.map(logical),
    ...given('schema', schema && printDdl(schema)),
  };
}

/** The plan for people. */
export function planLines(plan: PlanDocument, paint: Paint): string[] {
  const { status, verb, url, version, created, added, removed, rewritten, rows, partitions, recorded } = plan;
  const what = created ? `${verb} to a new table` : `${verb} on version ${version}`;
  const some = (amount: PlanDocument['added']): string | undefined =>
    amount.files === 0 ? undefined : amountText(amount);
  const outcome = {
    planned: undefined,
    unchanged: 'nothing to do; nothing would be committed',
    skipped: recorded && `skipped; ${recordedText(recorded)}`,
  }[status];
  return pairLines(
    [
      ['table', url],
      ['plan', what],
      ['outcome', outcome],
      ['rows', status === 'planned' ? rowsText(rows) || 'none' : undefined],
      ['files added', some(added)],
      ['files removed', some(removed)],
      [isVectors(plan) ? 'rows marked in' : 'of these rewritten', some(rewritten)],
      ['columns', plan.schema],
      ['partitions', partitions.length === 0 ? undefined : partitionsText(partitions)],
      ['took', durationText(plan.ms)],
    ],
    paint,
  );
}

/** What a plan would take away, as a sentence. */
export function removalText(plan: Omit<PlanDocument, 'ms'>): string {
  const { url, verb, rows, removedPaths, rewritten, partitions } = plan;
  const count = rows.deleted === undefined ? 'an unknown number of rows' : counted(rows.deleted, 'row');
  const whole = removedPaths.length - rewritten.files;
  const parts = [
    whole > 0 ? `${counted(whole, 'file')} would go whole` : undefined,
    rewritten.files > 0
      ? `${counted(rewritten.files, 'file')} would lose some of ${rewritten.files === 1 ? 'its' : 'their'} rows`
      : undefined,
    partitions.length > 0 ? `in ${counted(partitions.length, 'partition')}` : undefined,
  ];
  const files = parts.filter((part) => part !== undefined).join(', ');
  return `This ${verb} would remove ${count} from ${url}${files ? `: ${files}` : ''}.`;
}

/** Files that get a deletion vector stay, those that are written again are removed. */
function isVectors({ removed, removedPaths }: PlanDocument): boolean {
  return removedPaths.length > removed.files;
}

function partitionsText(partitions: PlanDocument['partitions']): string {
  const names = partitions.slice(0, PARTITIONS_SHOWN).map((values) =>
    Object.entries(values)
      .map(([name, value]) => `${name}=${value === null ? 'NULL' : oneLine(value)}`)
      .join('/'),
  );
  const rest = partitions.length - names.length;
  return `${countText(partitions.length)}: ${names.join(', ')}${rest > 0 ? ` and ${countText(rest)} more` : ''}`;
}
