export type { Resolution, UnknownCommit } from './commit/resolve.js';
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorContext,
  type ErrorKind,
  isTableError,
  TableError,
} from './errors.js';
export { intervalsOf, parseInterval } from './interval/argument.js';
export {
  Calendar,
  type CalendarData,
  type CalendarOptions,
  type InstantLike,
  type Span,
} from './interval/calendar.js';
export { type Cadence, parseCron } from './interval/cron.js';
export type { Interval } from './interval/interval.js';
export { covers, difference, gaps, type IntervalSet, intersection, union } from './interval/set.js';
export type { StepOptions, Unit } from './interval/step.js';
export type * from './log/actions.js';
export type { HistoryEntry, HistoryOptions } from './log/history.js';
export type { BackfillReport, ExecuteOptions, IntervalOutcome } from './pipeline/backfill.js';
export type { Blame } from './pipeline/blame.js';
export type { Coverage, CoverageEntry, IntervalState } from './pipeline/coverage.js';
export type {
  PipelineMode,
  PipelineOptions,
  ProduceContext,
  ReadInput,
  ReadInputOptions,
  RunEvolve,
  TableReference,
} from './pipeline/definition.js';
export type { CommittedNote, FailedNote, InputFacts, RunFacts, RunNote } from './pipeline/facts.js';
export {
  type Backfilled,
  definePipeline,
  type IntervalLike,
  type Pipeline,
  type Planned,
} from './pipeline/pipeline.js';
export type {
  BackfillRange,
  Bound,
  CatchUpRange,
  PlanItem,
  Reprocess,
  RunPlan,
  Shard,
} from './pipeline/plan.js';
export type { RepeatedKeys } from './pipeline/repeated-keys.js';
export type { RunOptions, RunResult } from './pipeline/run.js';
export type { UndoOptions } from './pipeline/undo.js';
export type { Verification, VerifyOptions } from './pipeline/verify.js';
export type { Clock, Ids } from './runtime/context.js';
export type { RequestEvent, RuntimeEvent, StoreOperation } from './runtime/events.js';
export { createRuntime, type Logger, type Runtime, type RuntimeOptions } from './runtime/runtime.js';
export type { Changes } from './scan/change-scan.js';
export type { ChangeFeed, ChangeOptions } from './scan/changes.js';
export type { ScanPlan } from './scan/plan.js';
export type { Expression, LiteralValue, Operand, Predicate } from './scan/predicate.js';
export {
  add,
  and,
  between,
  call,
  caseWhen,
  cast,
  col,
  date,
  decimal,
  divide,
  eq,
  ge,
  gt,
  isFalse,
  isIn,
  isNotNull,
  isNull,
  isTrue,
  le,
  like,
  lit,
  lt,
  modulo,
  multiply,
  negate,
  neq,
  not,
  nullSafeEq,
  or,
  subtract,
  timestamp,
  timestampNtz,
} from './scan/predicate.js';
export type { Scan, ScanOptions } from './scan/scan.js';
export { parsePredicate } from './scan/sql.js';
export { fromArrowSchema, toArrowSchema } from './schema/arrow.js';
export { parseDdl } from './schema/ddl.js';
export type { RowsDigest } from './schema/digest.js';
export type { ColumnName } from './schema/evolution-edit.js';
export type { RowOf } from './schema/row-type.js';
export type { Row } from './schema/rows-in.js';
export type { RowOptions } from './schema/rows-out.js';
export type * from './schema/types.js';
export type { FollowedVersion, FollowOptions } from './snapshot/follow.js';
export type { PartitionSummary, Snapshot } from './snapshot/snapshot.js';
export type { StagedFile } from './stage/staged.js';
export type { S3Options } from './store/s3-options.js';
export type { ObjectMeta, PutIfAbsentResult, RequestOptions, Store } from './store/store.js';
export {
  createTable,
  openOrCreate,
  openTable,
  type SnapshotOptions,
  type Table,
  type TableOptions,
} from './table.js';
export { VERSION } from './version.js';
export type {
  AddColumns,
  AddConstraint,
  Alteration,
  AlterOptions,
  AlterPlan,
  AlterResult,
  ChangeColumn,
  DropColumn,
  DropConstraint,
  DropFeature,
  RenameColumn,
  SetDescription,
  SetName,
  SetProperties,
  UnsetProperties,
} from './write/alteration.js';
export type { CreateOptions, CreateVerb, TableDefinition } from './write/create.js';
export type { RowCounts } from './write/effects.js';
export type { Isolation, IsolationOptions } from './write/isolation.js';
export type { Amount, Guards, Token, WritePlan } from './write/plan.js';
export type { RecordedToken } from './write/replay.js';
export type { SetClause, SetValue } from './write/set.js';
export type { ArrowBatchLike, ArrowTableLike, RowSource } from './write/source.js';
export type { StagedWrite } from './write/staged-write.js';
export type {
  DeleteSpec,
  Evolve,
  EvolveOptions,
  MergeSpec,
  OverwriteTarget,
  ReplaceUsingSpec,
  UpdateSpec,
  Verb,
  VerbName,
  WhenMatched,
  WhenNotMatched,
  WhenNotMatchedBySource,
  Where,
  WriteOptions,
  WriteResult,
} from './write/verb.js';
export type { AcceptedRow, Writer, WriterOptions } from './write/writer.js';
