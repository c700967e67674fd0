import type { DataType, Datum } from '../schema/types.js';
import { compareDatum } from '../schema/value.js';
import type { SqlFunction } from './functions.js';
import { isInteger, rangeOf } from './functions-cast.js';
import { floorDiv } from './functions-time.js';

const BOOLEAN: DataType = { type: 'boolean' };
const LONG: DataType = { type: 'long' };
const first = (types: readonly DataType[]): DataType => types[0]!;

const coalesce: SqlFunction = {
  parameters: ['same'],
  required: 1,
  variadic: true,
  seesNull: true,
  result: first,
  evaluate: (args) => args.find((each) => each !== null) ?? null,
};

const nullIf: SqlFunction = {
  parameters: ['same', 'same'],
  required: 2,
  seesNull: true,
  result: first,
  evaluate: ([left, right], types) => {
    const same = left !== null && right !== null && compareDatum(types[0]!, left!, right!) === 0;
    return same ? null : left!;
  },
};

const ifElse: SqlFunction = {
  parameters: [BOOLEAN, 'same', 'same'],
  required: 3,
  seesNull: true,
  result: (types) => types[1]!,
  evaluate: ([condition, then, otherwise]) => (condition === true ? then! : otherwise!),
};

/** Skips NULLs; NULL when there is nothing else. */
function extreme(sign: number): SqlFunction {
  return {
    parameters: ['same'],
    required: 2,
    variadic: true,
    seesNull: true,
    result: first,
    evaluate: (args, types) => {
      let best: Datum = null;
      for (const each of args) {
        if (each !== null && (best === null || compareDatum(types[0]!, each, best) * sign > 0)) best = each;
      }
      return best;
    },
  };
}

const abs: SqlFunction = {
  parameters: ['number'],
  required: 1,
  result: first,
  evaluate: ([value], [type]) => {
    if (typeof value !== 'bigint') return fits(Math.abs(value as number), type!);
    const magnitude = value < 0n ? -value : value;
    return type!.type === 'long' && BigInt.asIntN(64, magnitude) !== magnitude ? null : magnitude;
  },
};

/** The magnitude of the smallest whole number of a type is not in the type. */
function fits(value: number, type: DataType): Datum {
  return isInteger(type) && value > Number(rangeOf(type)![1]) ? null : value;
}

function rounded(name: 'floor' | 'ceil'): SqlFunction {
  return {
    parameters: ['number'],
    required: 1,
    result: ([type]) =>
      type?.type === 'decimal'
        ? { type: 'decimal', precision: Math.min(38, type.precision - type.scale + 1), scale: 0 }
        : LONG,
    evaluate: ([value], types) => {
      const type = types[0]!;
      if (type.type === 'decimal') {
        const unit = 10n ** BigInt(type.scale);
        return name === 'floor' ? floorDiv(value as bigint, unit) : -floorDiv(-(value as bigint), unit);
      }
      if (typeof value === 'bigint') return value;
      const whole = Math[name](value as number);
      if (!Number.isFinite(whole)) return null;
      const big = BigInt(whole);
      return BigInt.asIntN(64, big) === big ? big : null;
    },
  };
}

function test(evaluate: (value: Datum) => boolean): SqlFunction {
  return {
    parameters: ['any'],
    required: 1,
    seesNull: true,
    result: () => BOOLEAN,
    evaluate: ([value]) => evaluate(value!),
  };
}

const ceiling = rounded('ceil');

export const VALUE_FUNCTIONS: readonly (readonly [string, SqlFunction])[] = [
  ['coalesce', coalesce],
  ['nvl', { ...coalesce, required: 2 }],
  ['ifnull', { ...coalesce, required: 2 }],
  ['nullif', nullIf],
  ['if', ifElse],
  ['isnull', test((value) => value === null)],
  ['isnotnull', test((value) => value !== null)],
  ['isnan', test((value) => Number.isNaN(value))],
  ['greatest', extreme(1)],
  ['least', extreme(-1)],
  ['abs', abs],
  ['floor', rounded('floor')],
  ['ceil', ceiling],
  ['ceiling', ceiling],
];
