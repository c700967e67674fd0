import { TableError } from '../errors.js';
import { parsePoint } from '../interval/argument.js';
import { Calendar } from '../interval/calendar.js';
import { type Cadence, parseCron } from '../interval/cron.js';
import type { Interval } from '../interval/interval.js';
import type { StepOptions } from '../interval/step.js';
import { nearestName } from '../scan/bind-column.js';
import type { Scan, ScanOptions } from '../scan/scan.js';
import type { Row } from '../schema/rows-in.js';
import { resolveUrl } from '../store/url.js';
import type { TableDefinition } from '../write/create.js';
import { evolveModes } from '../write/evolve.js';
import type { ArrowBatchLike, ArrowTableLike, RowSource } from '../write/source.js';
import type { Evolve, Where } from '../write/verb.js';

/** How a run's rows get into the table; see `PipelineOptions.mode`. */
export type PipelineMode = 'replace' | 'upsert' | 'append-once';
export const MODES: readonly PipelineMode[] = ['replace', 'upsert', 'append-once'];

/** How the rows of a run may change the schema: by columns that it lacks, by wider types where `delta.enableTypeWidening` allows them. */
export type RunEvolve = Exclude<Evolve, 'overwrite'>;

/** A table by its URL or path, or an open one. */
export type TableReference = string | { readonly url: string };

export interface ReadInputOptions extends Omit<ScanOptions, 'signal'> {
  readonly version?: number;
  /** Only rows of the interval, found by this column as a pipeline's own is: a timestamp, a date, or text that holds the label. */
  readonly during?: string;
}

/** Reads a table as it is for the whole of one run. The version and the predicate are recorded with the run. */
export type ReadInput = (table: TableReference, options?: ReadInputOptions) => Promise<Scan>;

/** What `produce` is given. */
export interface ProduceContext {
  readonly interval: Interval;
  readonly read: ReadInput;
  /** Fires when the run is to stop. */
  readonly signal: AbortSignal;
}

/** Rows of the type that the pipeline has, or Arrow data. */
export type Produced<R extends object> =
  | ArrowBatchLike
  | ArrowTableLike
  | Iterable<R | ArrowBatchLike | ArrowTableLike>
  | AsyncIterable<R | ArrowBatchLike | ArrowTableLike>;

/** The name of a column of the rows; any where they come as Arrow data. */
export type ColumnOf<R extends object> = [R] extends [ArrowBatchLike | ArrowTableLike]
  ? string
  : keyof R & string;

/** What a pipeline is. `R` is the type of its rows. */
export interface PipelineOptions<R extends object = Row> {
  /** Names the pipeline in the table's log; unique among the pipelines of the table. */
  readonly name: string;
  /** A relative path is one of the working folder, as it is when the pipeline is defined. */
  readonly table: TableReference;
  /** Creates the table when it is not there. */
  readonly create?: TableDefinition;
  /** How long an interval is: `day`, `15 minutes`, `{ unit: 'month', anchor: '2024-01-15' }`. */
  readonly every: string | StepOptions;
  /** An IANA name; UTC by default. */
  readonly timeZone?: string;
  /** Where the first interval starts; a bound of the calendar. */
  readonly start: string;
  /** The column that says which interval a row lies in: a timestamp, a date, or text that holds the interval's label. */
  readonly column: ColumnOf<R>;
  /** What the pipeline's rows have in common; everything else in the table is not its own. */
  readonly scope?: Where;
  /**
   * `replace` (the default): the rows of the interval become those produced. `upsert`: rows are put by the key `on`; what the source no longer has stays.
   * `append-once`: rows are added by the first run, and later runs are skipped.
   */
  readonly mode?: PipelineMode;
  /** The key columns of `upsert`. */
  readonly on?: readonly ColumnOf<R>[];
  /** For `upsert`: of two versions of a key the one whose column is greater counts, so that backfills in any order end alike. */
  readonly order?: ColumnOf<R>;
  /** How many of the last intervals `catchUp` runs again. */
  readonly lookback?: number;
  /** A cron expression in the calendar's zone: `catchUp` takes intervals that had ended when it was last due. */
  readonly cadence?: string;
  /** What the rows of a run may do to the table's schema, in the commit of the run; by default it stays as it is. */
  readonly evolve?: RunEvolve | readonly RunEvolve[];
  /** Recorded with every run. */
  readonly codeVersion?: string;
  /** Accepts a table that forgets runs after `delta.setTransactionRetentionDuration`: older intervals are then unknown. */
  readonly allowForgetting?: boolean;
  /** The rows of an interval: an array, an iterable, an async generator, Arrow data, or a promise of one of these. */
  readonly produce: (context: ProduceContext) => Produced<R> | Promise<Produced<R>>;
}

/** A pipeline's options, checked. */
export interface Definition {
  readonly name: string;
  /** Canonical. */
  readonly url: string;
  readonly create: TableDefinition | undefined;
  readonly calendar: Calendar;
  /** Milliseconds since the Unix epoch; a bound. */
  readonly startMs: number;
  readonly column: string;
  readonly scope: Where | undefined;
  readonly mode: PipelineMode;
  readonly on: readonly string[];
  readonly order: string | undefined;
  readonly lookback: number;
  readonly cadence: Cadence | undefined;
  readonly evolve: ReadonlySet<Evolve>;
  readonly codeVersion: string | undefined;
  readonly allowForgetting: boolean;
  readonly produce: (context: ProduceContext) => RowSource | Promise<RowSource>;
}

/** So many intervals that listing them takes seconds and the log carries them all. */
export const MANY_INTERVALS = 100_000;
const LONGEST_NAME = 200;
/** All there are: files in TypeScript run without their types being checked, and `timezone` would silently be UTC. */
const OPTIONS: Readonly<Record<keyof PipelineOptions, true>> = {
  name: true,
  table: true,
  create: true,
  every: true,
  timeZone: true,
  start: true,
  column: true,
  scope: true,
  mode: true,
  on: true,
  order: true,
  lookback: true,
  cadence: true,
  evolve: true,
  codeVersion: true,
  allowForgetting: true,
  produce: true,
};

/** Checks options without touching a store. Throws `INVALID_INPUT` with the option at fault. */
export function checkDefinition<R extends object>(options: PipelineOptions<R>): Definition {
  assertKnown(options);
  const { name, mode = 'replace', on = [], order, lookback = 0 } = options;
  if (typeof name !== 'string' || name === '' || name.length > LONGEST_NAME)
    throw invalid('name', `a name has 1 to ${LONGEST_NAME} characters`, name);
  const url = typeof options.table === 'string' ? options.table : options.table?.url;
  if (typeof url !== 'string' || url === '')
    throw invalid('table', 'it is a URL, a path or an open table', url);
  if (!MODES.includes(mode)) throw invalid('mode', `it is one of ${MODES.join(', ')}`, mode);
  if (typeof options.column !== 'string' || options.column === '')
    throw invalid('column', 'name the column that says which interval a row lies in', options.column);
  if (typeof options.produce !== 'function') throw invalid('produce', 'it is a function', options.produce);
  if (mode === 'upsert' && on.length === 0) throw invalid('on', 'upsert needs the columns of the key', on);
  if (mode !== 'upsert' && (on.length > 0 || order !== undefined))
    throw invalid(on.length > 0 ? 'on' : 'order', "it is for mode: 'upsert'", on);
  if (!Number.isInteger(lookback) || lookback < 0)
    throw invalid('lookback', 'it is a whole number of intervals', lookback);
  const calendar = new Calendar({ every: options.every, timeZone: options.timeZone });
  if (typeof options.start !== 'string')
    throw invalid('start', 'it is text such as 2024-01-01', options.start);
  return {
    name,
    url: resolveUrl(url),
    create: options.create,
    calendar,
    startMs: calendar.bound(parsePoint(calendar, options.start).ms),
    column: options.column,
    scope: options.scope,
    mode,
    on,
    order,
    lookback,
    cadence: options.cadence === undefined ? undefined : parseCron(options.cadence, calendar.timeZone),
    evolve: evolveModes('append', { evolve: options.evolve }, url),
    codeVersion: options.codeVersion,
    allowForgetting: options.allowForgetting ?? false,
    produce: options.produce as Definition['produce'],
  };
}

function assertKnown(options: object): void {
  const known = Object.keys(OPTIONS);
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, known);
  const hint = nearest === undefined ? `They are ${known.join(', ')}.` : `Did you mean ${nearest}?`;
  throw new TableError('INVALID_INPUT', `A pipeline has no option ${unknown}. ${hint}`, { option: unknown });
}

function invalid(option: string, hint: string, got: unknown): TableError {
  return new TableError('INVALID_INPUT', `The option ${option} of a pipeline is not valid: ${hint}.`, {
    option,
    got: typeof got === 'function' ? 'a function' : got,
  });
}
