import { TableError } from '../errors.js';
import { FEATURES } from './feature-table.js';
import { parseByteSize, parseColumnList, parseDuration } from './property-values.js';

/** Which leaf columns get statistics: the columns named (with everything below them), else the first `indexedColumns` leaves; -1 is all of them. */
export interface DataSkipping {
  readonly indexedColumns: number;
  /** Logical paths, e.g. `[['a', 'b'], ['c']]`. */
  readonly statsColumns?: readonly (readonly string[])[];
  /** Physical paths of columns that get statistics in any case. */
  readonly always?: readonly (readonly string[])[];
}

/** The table properties that this library acts on, with the defaults of other engines where they are absent. Durations in milliseconds, sizes in bytes. */
export interface TableProperties {
  readonly appendOnly: boolean;
  readonly checkpointInterval: number;
  readonly checkpointPolicy: 'classic' | 'v2';
  readonly checkpointStatsAsJson: boolean;
  readonly checkpointStatsAsStruct: boolean;
  readonly dataSkipping: DataSkipping;
  readonly deletedFileRetentionMs: number;
  readonly enableExpiredLogCleanup: boolean;
  readonly inCommitTimestamps: boolean;
  readonly inCommitTimestampEnablement: { readonly version: number; readonly timestamp: number } | undefined;
  readonly isolationLevel: 'Serializable' | 'WriteSerializable';
  readonly logRetentionMs: number;
  /** Undefined: the files of `txn` actions never expire. */
  readonly setTransactionRetentionMs: number | undefined;
  readonly targetFileSize: number;
}

type Read<T> = (text: string, name: string) => T;

interface Property<T> {
  readonly read: Read<T>;
  readonly otherwise: T;
}

const bool: Read<boolean> = (text, name) => {
  const word = text.toLowerCase();
  if (word === 'true' || word === 'false') return word === 'true';
  throw invalid(name, text, 'true or false');
};

function integer(least: number): Read<number> {
  return (text, name) => {
    const value = Number(text);
    if (/^-?\d+$/.test(text.trim()) && Number.isSafeInteger(value) && value >= least) return value;
    throw invalid(name, text, `an integer of ${least} or more`);
  };
}

function oneOf<const T extends string>(...words: T[]): Read<T> {
  return (text, name) => {
    const found = words.find((word) => word.toLowerCase() === text.toLowerCase());
    if (found === undefined) throw invalid(name, text, `one of ${words.join(', ')}`);
    return found;
  };
}

const duration: Read<number> = (text, name) =>
  parseDuration(text) ?? fail(name, text, "a duration such as 'interval 30 days'");
const byteSize: Read<number> = (text, name) =>
  parseByteSize(text) ?? fail(name, text, "a size such as '128mb' or a number of bytes");
const columnList: Read<string[][]> = (text, name) =>
  parseColumnList(text) ?? fail(name, text, "column names with commas between, such as 'a, b.c, `d,e`'");
const anyText: Read<string> = (text) => text;

function given<T>(read: Read<T>): Property<T | undefined> {
  return { read, otherwise: undefined };
}

const DAY_MS = 86_400_000;

/** Every property of Delta that may be set by hand, with its type and default. */
const PROPERTIES = {
  'delta.appendOnly': { read: bool, otherwise: false },
  'delta.autoOptimize': given(bool),
  'delta.autoOptimize.autoCompact': given(anyText),
  'delta.autoOptimize.optimizeWrite': given(bool),
  'delta.checkpoint.writeStatsAsJson': { read: bool, otherwise: true },
  'delta.checkpoint.writeStatsAsStruct': { read: bool, otherwise: false },
  'delta.checkpointInterval': { read: integer(1), otherwise: 10 },
  'delta.checkpointPolicy': { read: oneOf('classic', 'v2'), otherwise: 'classic' as const },
  'delta.checkpointRetentionDuration': given(duration),
  'delta.columnMapping.mode': { read: oneOf('none', 'id', 'name'), otherwise: 'none' as const },
  'delta.columnMapping.maxColumnId': given(integer(0)),
  'delta.dataSkippingNumIndexedCols': { read: integer(-1), otherwise: 32 },
  'delta.dataSkippingStatsColumns': given(columnList),
  'delta.deletedFileRetentionDuration': { read: duration, otherwise: 7 * DAY_MS },
  'delta.enableChangeDataFeed': { read: bool, otherwise: false },
  'delta.enableDeletionVectors': { read: bool, otherwise: false },
  'delta.enableExpiredLogCleanup': { read: bool, otherwise: true },
  'delta.enableFullRetentionRollback': given(bool),
  'delta.enableIcebergCompatV1': { read: bool, otherwise: false },
  'delta.enableIcebergCompatV2': { read: bool, otherwise: false },
  'delta.enableIcebergCompatV3': { read: bool, otherwise: false },
  'delta.enableInCommitTimestamps': { read: bool, otherwise: false },
  'delta.enableRowTracking': { read: bool, otherwise: false },
  'delta.enableTypeWidening': { read: bool, otherwise: false },
  'delta.enableVariantShredding': { read: bool, otherwise: false },
  'delta.inCommitTimestampEnablementTimestamp': given(integer(0)),
  'delta.inCommitTimestampEnablementVersion': given(integer(0)),
  'delta.isolationLevel': {
    read: oneOf('Serializable', 'WriteSerializable'),
    otherwise: 'Serializable' as const,
  },
  'delta.logRetentionDuration': { read: duration, otherwise: 30 * DAY_MS },
  'delta.parquet.compression.codec': given(anyText),
  'delta.parquet.format.version': given(anyText),
  'delta.randomizeFilePrefixes': given(bool),
  'delta.randomPrefixLength': given(integer(1)),
  'delta.rowTrackingSuspended': given(bool),
  'delta.setTransactionRetentionDuration': given(duration),
  'delta.targetFileSize': { read: byteSize, otherwise: 128 * 2 ** 20 },
  'delta.tuneFileSizesForRewrites': given(bool),
} as const satisfies Record<string, Property<unknown>>;

type Name = keyof typeof PROPERTIES;
type Value<N extends Name> = (typeof PROPERTIES)[N] extends Property<infer T> ? T : never;

/** The names of the properties that a table may be created with, sorted. */
export const PROPERTY_NAMES: readonly string[] = Object.keys(PROPERTIES).sort();

/** One property of a table by its name; a text that does not fit is `INVALID_INPUT` and names the property. */
function read<N extends Name>(configuration: Readonly<Record<string, string>>, name: N): Value<N> {
  const property = PROPERTIES[name] as Property<Value<N>>;
  const text = Object.hasOwn(configuration, name) ? configuration[name] : undefined;
  return text === undefined ? property.otherwise : property.read(text, name);
}

/**
 * The properties of a table. Each is read when it is asked for, so that one with a text that does not fit (`INVALID_INPUT`, which names it) stops only what
 * needs it.
 */
export function tableProperties(configuration: Readonly<Record<string, string>>): TableProperties {
  return {
    get appendOnly() {
      return read(configuration, 'delta.appendOnly');
    },
    get checkpointInterval() {
      return read(configuration, 'delta.checkpointInterval');
    },
    get checkpointPolicy() {
      return read(configuration, 'delta.checkpointPolicy');
    },
    get checkpointStatsAsJson() {
      return read(configuration, 'delta.checkpoint.writeStatsAsJson');
    },
    get checkpointStatsAsStruct() {
      return read(configuration, 'delta.checkpoint.writeStatsAsStruct');
    },
    get dataSkipping() {
      return {
        indexedColumns: read(configuration, 'delta.dataSkippingNumIndexedCols'),
        statsColumns: read(configuration, 'delta.dataSkippingStatsColumns'),
      };
    },
    get deletedFileRetentionMs() {
      return read(configuration, 'delta.deletedFileRetentionDuration');
    },
    get enableExpiredLogCleanup() {
      return read(configuration, 'delta.enableExpiredLogCleanup');
    },
    get inCommitTimestamps() {
      return read(configuration, 'delta.enableInCommitTimestamps');
    },
    get inCommitTimestampEnablement() {
      const version = read(configuration, 'delta.inCommitTimestampEnablementVersion');
      const timestamp = read(configuration, 'delta.inCommitTimestampEnablementTimestamp');
      return version === undefined || timestamp === undefined ? undefined : { version, timestamp };
    },
    get isolationLevel() {
      return read(configuration, 'delta.isolationLevel');
    },
    get logRetentionMs() {
      return read(configuration, 'delta.logRetentionDuration');
    },
    get setTransactionRetentionMs() {
      return read(configuration, 'delta.setTransactionRetentionDuration');
    },
    get targetFileSize() {
      return read(configuration, 'delta.targetFileSize');
    },
  };
}

/**
 * Checks properties given for a new table. `INVALID_INPUT` for a `delta.` property that is not known (a typing error would be silent otherwise) or a text that
 * does not fit; `UNSUPPORTED_FEATURE` for one that puts a feature to use which this library cannot write. Names without the prefix are the user's own.
 */
export function assertProperties(configuration: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(configuration)) {
    if (!name.toLowerCase().startsWith('delta.')) continue;
    if (name.startsWith('delta.constraints.')) continue;
    if (!Object.hasOwn(PROPERTIES, name)) {
      const same = PROPERTY_NAMES.find((known) => known.toLowerCase() === name.toLowerCase());
      const hint = same ? `Did you mean '${same}'?` : `Known are ${PROPERTY_NAMES.join(', ')}.`;
      throw new TableError('INVALID_INPUT', `'${name}' is not a table property. ${hint}`, { property: name });
    }
    PROPERTIES[name as Name].read(text, name);
    const alone = {
      properties: { [name]: text },
      schema: { types: new Set<string>(), metadataKeys: new Set<string>() },
    };
    const feature = Object.entries(FEATURES).find(
      ([, { write, active }]) => write === 'inactive' && active(alone),
    );
    if (feature) throw needsFeature(name, feature[0]);
    const unwritten = NEVER_CREATED.get(name);
    if (unwritten && bool(text, name)) throw needsFeature(name, unwritten);
  }
}

/** Properties of features that are kept on tables which have them, but not given to new ones. */
const NEVER_CREATED: ReadonlyMap<string, string> = new Map([
  ['delta.enableVariantShredding', 'variantShredding'],
]);

function needsFeature(property: string, feature: string): TableError {
  return new TableError(
    'UNSUPPORTED_FEATURE',
    `The property '${property}' needs the table feature ${feature}, which this library cannot write. Leave it out.`,
    { property, features: [{ feature, blocks: 'write', reason: `it is in use: ${property}` }] },
  );
}

function fail(name: string, text: string, expected: string): never {
  throw invalid(name, text, expected);
}

function invalid(name: string, text: string, expected: string): TableError {
  return new TableError('INVALID_INPUT', `The table property '${name}' is '${text}'; expected ${expected}.`, {
    property: name,
    value: text,
    expected,
  });
}
