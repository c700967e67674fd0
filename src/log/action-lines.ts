import { TableError } from '../errors.js';
import type { Json, JsonObject } from '../schema/types.js';
import type { Action } from './actions.js';
import { parseJson, RawNumber, stringifyJson } from './json.js';
import { assertPathLength, LOG_LIMITS, lineTooLong } from './limits.js';
import { scanActionSpans } from './scan-lines.js';

/** Which file of the log is being read, for errors. */
export interface LogLocation {
  readonly version: number;
  readonly file: string;
}

/**
 * The actions of a commit, in the order of its lines (protocol: Delta Log Entries). CRLF, blank lines, a byte order mark and a missing last newline are read;
 * null members are passed over, several members of one line are several actions, and members that this library does not know come as `unknown`. Members of
 * known actions that are missing get the value that engines read for them: 0, false, or empty.
 * A file without an action, a line that is not a JSON object, or a member of the wrong type is `CORRUPT_LOG`, which names version and file.
 */
export function parseCommit(bytes: Uint8Array, where: LogLocation): Action[] {
  const lines = scanActionSpans(bytes);
  if (lines.count === 0) throw emptyCommit(where);
  const actions: Action[] = [];
  for (let i = 0; i < lines.count; i++)
    parseActionLine(bytes, lines.starts[i]!, lines.ends[i]!, where, actions);
  return actions;
}

/** Appends the actions of the line [start, end) of `bytes` to `into`; errors as `parseCommit`. */
export function parseActionLine(
  bytes: Uint8Array,
  start: number,
  end: number,
  where: LogLocation,
  into: Action[],
): void {
  if (end - start > LOG_LIMITS.lineBytes) throw lineTooLong(where.file);
  let line: unknown;
  try {
    line = parseJson(UTF8.decode(bytes.subarray(start, end)));
  } catch (error) {
    if (error instanceof TableError)
      throw new TableError(error.code, `${where.file} (version ${where.version}): ${error.message}`, {
        ...error.context,
        ...where,
      });
    throw corrupt(where, 'has a line that is not JSON; it may be torn', error);
  }
  if (!isObject(line)) throw corrupt(where, 'has a line that is not a JSON object');
  for (const name of Object.keys(line)) {
    const value = line[name];
    if (value === null || value === undefined) continue;
    into.push(toAction(name, value, where));
  }
}

/** A file with no action at all, such as a zero-byte one that a crash left: never read as an empty commit, because rows would silently be missing. */
export function emptyCommit(where: LogLocation): TableError {
  return corrupt(where, 'holds no action; it may be torn');
}

/**
 * One JSON object a line, each ended by `\n`, as UTF-8. Members of an action that are null or undefined are left out; those of maps within it, such as
 * partition values, are kept. Fields unknown to this library are written as they were read.
 */
export function serializeActions(actions: readonly Action[]): Uint8Array {
  let text = '';
  for (const action of actions) {
    if ('unknown' in action) text += `${stringifyJson(action.unknown)}\n`;
    else
      for (const [name, body] of Object.entries(action))
        text += `{${JSON.stringify(name)}:${stringifyJson(withoutNulls(body))}}\n`;
  }
  return new TextEncoder().encode(text);
}

function withoutNulls(body: object): object {
  const members = Object.entries(body);
  // Entries rather than assignment, so that a member named __proto__ stays one.
  return members.some(([, value]) => value === null)
    ? Object.fromEntries(members.filter(([, value]) => value !== null))
    : body;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The action of one member of a line, checked and completed as `parseCommit` says. */
export function toAction(name: string, value: Json, where: LogLocation): Action {
  const check = CHECKS.get(name);
  if (check === undefined) return { unknown: Object.fromEntries([[name, value]]) };
  if (!isObject(value)) throw corrupt(where, `has an action ${name} that is not an object`);
  const body: Record<string, Json> = value as Record<string, Json>;
  for (const [member, type, missing] of check) {
    const found = Object.hasOwn(body, member) ? body[member] : undefined;
    if (found === undefined || found === null) {
      if (missing === REQUIRED) throw corrupt(where, `has an action ${name} without ${member}`);
      if (missing !== OPTIONAL) body[member] = missing();
      continue;
    }
    const problem = type(found, body, member);
    if (problem) throw corrupt(where, `has an action ${name} whose ${member} is not ${problem}`);
  }
  const path = body.path;
  if (typeof path === 'string') assertPathLength(path, where.file);
  return { [name]: body } as unknown as Action;
}

/** Says what the value should have been, or nothing. May put a converted value in place. */
type Check = (value: Json, body: Record<string, Json>, member: string) => string | undefined;

const text: Check = (value) => (typeof value === 'string' ? undefined : 'a string');
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false');
const int64: Check = (value) =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
    ? undefined
    : 'an integer';
const int53: Check = (value) => (Number.isSafeInteger(value) ? undefined : 'an integer below 2^53');
const count: Check = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : 'an integer from 0 to 2^53';
const object: Check = (value) => (isObject(value) ? undefined : 'an object');
const texts: Check = (value) =>
  Array.isArray(value) && value.every((v) => typeof v === 'string') ? undefined : 'a list of strings';

/** A map of strings or nulls; other scalars are taken by their JSON text, as other readers do. */
const textMap: Check = (value, body, member) => {
  if (!isObject(value)) return 'an object';
  if (Object.values(value).every((v) => v === null || typeof v === 'string')) return undefined;
  const entries = Object.entries(value).map(
    ([key, v]) => [key, v === null || typeof v === 'string' ? v : scalarText(v)] as const,
  );
  if (entries.some(([, v]) => v === undefined)) return 'a map of strings';
  body[member] = Object.fromEntries(entries) as JsonObject;
  return undefined;
};

function scalarText(value: Json): string | undefined {
  return typeof value === 'object' && !(value instanceof RawNumber) ? undefined : stringifyJson(value);
}

const vector: Check = (value: unknown) => {
  if (!isObject(value)) return 'an object';
  const { storageType, pathOrInlineDv, offset, sizeInBytes, cardinality } = value;
  const sound =
    (storageType === 'u' || storageType === 'i' || storageType === 'p') &&
    typeof pathOrInlineDv === 'string' &&
    (offset === undefined || offset === null || (Number.isSafeInteger(offset) && (offset as number) >= 0)) &&
    [sizeInBytes, cardinality].every((n) => Number.isSafeInteger(n) && (n as number) >= 0);
  return sound ? undefined : 'a deletion vector descriptor';
};

const REQUIRED = 'required';
const OPTIONAL = 'optional';
const zero = () => 0;
const no = () => false;
const emptyMap = () => ({});
const emptyList = () => [];

type Members = readonly (readonly [
  name: string,
  check: Check,
  missing: typeof REQUIRED | typeof OPTIONAL | (() => Json),
])[];

const FILE: Members = [
  ['path', text, REQUIRED],
  ['dataChange', flag, no],
  ['tags', textMap, OPTIONAL],
  ['stats', text, OPTIONAL],
  ['deletionVector', vector, OPTIONAL],
  ['baseRowId', int64, OPTIONAL],
  ['defaultRowCommitVersion', int64, OPTIONAL],
];

/** The members of each action of the protocol that this library relies on. */
const CHECKS: ReadonlyMap<string, Members> = new Map<string, Members>([
  [
    'add',
    [
      ...FILE,
      ['partitionValues', textMap, emptyMap],
      ['size', count, zero],
      ['modificationTime', int53, zero],
    ],
  ],
  [
    'remove',
    [
      ...FILE,
      ['partitionValues', textMap, OPTIONAL],
      ['size', count, OPTIONAL],
      ['deletionTimestamp', int53, OPTIONAL],
    ],
  ],
  [
    'cdc',
    [
      ['path', text, REQUIRED],
      ['partitionValues', textMap, emptyMap],
      ['size', count, zero],
      ['tags', textMap, OPTIONAL],
    ],
  ],
  [
    'metaData',
    [
      ['id', text, () => ''],
      ['format', object, () => ({ provider: 'parquet', options: {} })],
      ['schemaString', text, REQUIRED],
      ['partitionColumns', texts, emptyList],
      ['configuration', textMap, emptyMap],
    ],
  ],
  [
    'protocol',
    [
      ['minReaderVersion', count, REQUIRED],
      ['minWriterVersion', count, REQUIRED],
      ['readerFeatures', texts, OPTIONAL],
      ['writerFeatures', texts, OPTIONAL],
    ],
  ],
  [
    'txn',
    [
      ['appId', text, REQUIRED],
      ['version', int64, REQUIRED],
      ['lastUpdated', int53, OPTIONAL],
    ],
  ],
  [
    'domainMetadata',
    [
      ['domain', text, REQUIRED],
      ['configuration', text, () => ''],
      ['removed', flag, no],
    ],
  ],
  ['commitInfo', []],
]);

function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RawNumber)
  );
}

function corrupt(where: LogLocation, what: string, cause?: unknown): TableError {
  return new TableError(
    'CORRUPT_LOG',
    `${where.file} (version ${where.version}) ${what}. Earlier versions can still be read by their number.`,
    { version: where.version, file: where.file },
    cause,
  );
}
