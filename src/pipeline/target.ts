import { TableError } from '../errors.js';
import type { Interval } from '../interval/interval.js';
import { isSubDay, stepText } from '../interval/step.js';
import { nearestName } from '../scan/bind-column.js';
import { and, col, type Expression, eq, ge, lit, lt } from '../scan/predicate.js';
import { findField } from '../schema/mapping.js';
import { typeText } from '../schema/type-text.js';
import type { Datum, StructField } from '../schema/types.js';
import type { State } from '../snapshot/state.js';
import { parsed } from '../write/condition.js';
import type { Definition } from './definition.js';

const DAY_MS = 86_400_000;

/** How a pipeline's intervals lie in the values of its column. */
export interface Target {
  readonly field: StructField;
  /** TRUE for exactly the rows of an interval that are the pipeline's own. */
  predicate(interval: Interval): Expression;
  /** TRUE for all rows of the pipeline's own from the start of one interval to the end of another, and maybe for more where the column holds labels. */
  within(first: Interval, last: Interval): Expression;
  /**
   * The place of a bound, or of a value of the column, on one line: milliseconds for timestamps, days for dates. Undefined for a value that has no place, and
   * always where the column holds labels.
   */
  placeOfStart(interval: Interval): number | undefined;
  placeOfEnd(interval: Interval): number | undefined;
  placeOf(value: Datum): number | undefined;
}

/**
 * Finds the column and checks that its type can tell the calendar's intervals apart. Throws `UNKNOWN_COLUMN`, and `INVALID_INPUT` for a type that holds no time,
 * a date column with intervals shorter than a day or that do not start at midnight, and a wall clock column with intervals shorter than a day in a zone whose
 * clocks change.
 */
export function bindTarget(definition: Definition, state: Pick<State, 'schema'>): Target {
  const { calendar, column, startMs } = definition;
  const field = findField(state.schema, column);
  if (!field) {
    const names = state.schema.fields.map(({ name }) => name);
    const nearest = nearestName(column, names);
    throw new TableError(
      'UNKNOWN_COLUMN',
      `The table has no column '${column}' to find intervals by. ${nearest === undefined ? `It has ${names.join(', ')}.` : `Did you mean ${nearest}?`}`,
      { column },
    );
  }
  const { unit, minute } = calendar.step;
  const refuse = (why: string): never => {
    throw new TableError(
      'INVALID_INPUT',
      `The column '${field.name}' of type ${typeText(field.dataType)} cannot be cut every ${stepText(calendar.step)}: ${why}.`,
      { column: field.name, type: typeText(field.dataType), every: stepText(calendar.step) },
    );
  };
  const type = field.dataType;
  switch (type.type) {
    case 'timestamp':
      return range(definition, field, {
        placeOf: (ms) => ms,
        bound: microseconds,
        place: milliseconds,
      });
    case 'timestamp_ntz':
      if (isSubDay(unit) && calendar.zone.changesAfter(startMs))
        refuse(`the clocks of ${calendar.timeZone} change, so that a wall clock can mean two instants`);
      return range(definition, field, {
        placeOf: (ms) => calendar.wallMs(ms),
        bound: microseconds,
        place: milliseconds,
      });
    case 'date':
      if (isSubDay(unit)) refuse('it needs a timestamp');
      if (minute !== 0) refuse('its days do not start at midnight');
      return range(definition, field, {
        placeOf: (ms) => calendar.wallMs(ms) / DAY_MS,
        bound: (day) => day,
        place: (value) => value as number,
      });
    case 'string':
      return {
        field,
        predicate: (interval) => scoped(definition, eq(col([field.name]), lit(interval.label))),
        within: () => scoped(definition),
        placeOfStart: () => undefined,
        placeOfEnd: () => undefined,
        placeOf: () => undefined,
      };
    default:
      return refuse('it is a timestamp, a date, or text that holds the label of the interval');
  }
}

interface Edges {
  /** The place of a bound, which is given in milliseconds. */
  placeOf(ms: number): number;
  /** The value of the column at a place. */
  bound(place: number): bigint | number;
  place(value: Datum): number;
}

function range(definition: Definition, field: StructField, edges: Edges): Target {
  const column = col([field.name]);
  const bound = (ms: number) => lit(edges.bound(edges.placeOf(ms)), field.dataType);
  const within = ({ startMs }: Interval, { endMs }: Interval): Expression =>
    scoped(definition, ge(column, bound(startMs)), lt(column, bound(endMs)));
  return {
    field,
    predicate: (interval) => within(interval, interval),
    within,
    placeOfStart: ({ startMs }) => edges.placeOf(startMs),
    placeOfEnd: ({ endMs }) => edges.placeOf(endMs),
    placeOf: (value) => (value === null ? undefined : edges.place(value)),
  };
}

function scoped({ scope }: Definition, ...parts: Expression[]): Expression {
  return and(...parts, ...(scope === undefined ? [] : [parsed(scope)]));
}

/** Whole milliseconds, towards the past: intervals start at whole seconds. */
function milliseconds(value: Datum): number {
  const micros = value as bigint;
  const ms = micros / 1000n;
  return Number(micros < 0n && ms * 1000n !== micros ? ms - 1n : ms);
}

function microseconds(ms: number): bigint {
  return BigInt(ms) * 1000n;
}
