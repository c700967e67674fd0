import type { DataType, Datum } from '../schema/types.js';
import { DATE_FUNCTIONS } from './functions-date.js';
import { STRING_FUNCTIONS } from './functions-string.js';
import { VALUE_FUNCTIONS } from './functions-value.js';

/** How an argument is taken: cast to a type, left as it is, brought to the common type of all `same` arguments, or checked only. */
export type Parameter = DataType | 'any' | 'same' | 'number' | 'instant';

/** A deterministic SQL function. Nothing here depends on the time, the host's zone or chance. */
export interface SqlFunction {
  readonly parameters: readonly Parameter[];
  /** How many arguments must be given. */
  readonly required: number;
  /** The last parameter repeats. */
  readonly variadic?: boolean;
  /** Of the argument types after casting. */
  readonly result: (types: readonly DataType[]) => DataType;
  /** A NULL argument makes the result NULL without a call, unless `seesNull`. */
  readonly evaluate: (args: readonly Datum[], types: readonly DataType[]) => Datum;
  readonly seesNull?: boolean;
  /** The argument in which the result never decreases while the others are constant; and the result is NULL only where an argument is. */
  readonly monotone?: number;
  /** What is wrong with the constant arguments (undefined where not constant), said when bound. */
  readonly check?: (constants: readonly (Datum | undefined)[]) => string | undefined;
}

const FUNCTIONS: ReadonlyMap<string, SqlFunction> = new Map([
  ...DATE_FUNCTIONS,
  ...STRING_FUNCTIONS,
  ...VALUE_FUNCTIONS,
]);

/** Functions of other engines that a stored expression cannot use, with the reason. */
const REFUSED: ReadonlyMap<string, string> = new Map(
  ['current_date', 'current_timestamp', 'now', 'rand', 'random', 'uuid', 'curdate', 'localtimestamp'].map(
    (name) => [name, 'its result changes from call to call; write the value as a literal'],
  ),
);

export function functionNamed(name: string): SqlFunction | undefined {
  return FUNCTIONS.get(name.toLowerCase());
}

export function refusalOf(name: string): string | undefined {
  return REFUSED.get(name.toLowerCase());
}

export function functionNames(): string[] {
  return [...FUNCTIONS.keys()].sort();
}
