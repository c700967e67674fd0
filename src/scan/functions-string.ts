import type { DataType, Datum } from '../schema/types.js';
import type { Parameter, SqlFunction } from './functions.js';

const STRING: DataType = { type: 'string' };
const INTEGER: DataType = { type: 'integer' };
const BOOLEAN: DataType = { type: 'boolean' };

function ofStrings(
  result: DataType,
  parameters: readonly Parameter[],
  evaluate: (...args: string[]) => Datum,
  required = parameters.length,
): SqlFunction {
  return { parameters, required, result: () => result, evaluate: (args) => evaluate(...(args as string[])) };
}

/** Positions count characters (code points) from 1, or back from the end when negative. */
function substring(text: string, from: number, length: number): string {
  const points = [...text];
  const start = from > 0 ? from - 1 : from < 0 ? points.length + from : 0;
  const end = start + length;
  return end <= Math.max(start, 0) ? '' : points.slice(Math.max(start, 0), end).join('');
}

const substringFunction: SqlFunction = {
  parameters: [STRING, INTEGER, INTEGER],
  required: 2,
  result: () => STRING,
  evaluate: ([text, from, length]) =>
    substring(text as string, from as number, (length as number | undefined) ?? Number.MAX_SAFE_INTEGER),
};

const concat: SqlFunction = {
  parameters: [STRING],
  required: 1,
  variadic: true,
  result: () => STRING,
  evaluate: (args) => args.join(''),
};

const lower = ofStrings(STRING, [STRING], (text) => text.toLowerCase());
const upper = ofStrings(STRING, [STRING], (text) => text.toUpperCase());
const length = ofStrings(INTEGER, [STRING], (text) => [...text].length);

export const STRING_FUNCTIONS: readonly (readonly [string, SqlFunction])[] = [
  ['lower', lower],
  ['lcase', lower],
  ['upper', upper],
  ['ucase', upper],
  ['length', length],
  ['char_length', length],
  ['character_length', length],
  ['substring', substringFunction],
  ['substr', substringFunction],
  ['left', countedFrom((text, count) => (count <= 0 ? '' : substring(text, 1, count)))],
  ['right', countedFrom((text, count) => (count <= 0 ? '' : [...text].slice(-count).join('')))],
  ['trim', ofStrings(STRING, [STRING], (text) => text.replace(/^ +| +$/g, ''))],
  ['ltrim', ofStrings(STRING, [STRING], (text) => text.replace(/^ +/, ''))],
  ['rtrim', ofStrings(STRING, [STRING], (text) => text.replace(/ +$/, ''))],
  ['concat', concat],
  ['startswith', ofStrings(BOOLEAN, [STRING, STRING], (text, part) => text.startsWith(part))],
  ['endswith', ofStrings(BOOLEAN, [STRING, STRING], (text, part) => text.endsWith(part))],
  ['contains', ofStrings(BOOLEAN, [STRING, STRING], (text, part) => text.includes(part))],
  ['replace', ofStrings(STRING, [STRING, STRING, STRING], replace, 2)],
];

function replace(text: string, search: string, by = ''): string {
  return search === '' ? text : text.replaceAll(search, () => by);
}

function countedFrom(take: (text: string, count: number) => string): SqlFunction {
  return {
    parameters: [STRING, INTEGER],
    required: 2,
    result: () => STRING,
    evaluate: ([text, count]) => take(text as string, count as number),
  };
}
