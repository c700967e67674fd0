import { TableError } from '../errors.js';
import { quoteName, typeText } from '../schema/type-text.js';
import type { StructField, StructType } from '../schema/types.js';
import type { BoundColumn } from './bind-tree.js';

/**
 * Finds a column, or a field inside struct columns, by name: an exact match first, else one in another case, as Spark does. Throws UNKNOWN_COLUMN with the
 * nearest name.
 */
export function resolveColumn(path: readonly string[], schema: StructType): BoundColumn {
  const fields: StructField[] = [];
  let within = schema;
  for (const [depth, name] of path.entries()) {
    const field = findField(within, name);
    if (field === undefined) throw unknownColumn(path, depth, within);
    fields.push(field);
    if (depth === path.length - 1) break;
    if (field.dataType.type !== 'struct') {
      const outer = path.slice(0, depth + 1).join('.');
      throw new TableError(
        'UNKNOWN_COLUMN',
        `There is no column ${path.join('.')}: ${outer} is ${typeText(field.dataType)}, which has no fields that a predicate can name.`,
        { column: path.join('.'), type: typeText(field.dataType) },
      );
    }
    within = field.dataType;
  }
  const names = fields.map((field) => field.name);
  return { kind: 'column', type: fields.at(-1)!.dataType, path: names, fields, key: JSON.stringify(names) };
}

function findField(struct: StructType, name: string): StructField | undefined {
  const exact = struct.fields.find((field) => field.name === name);
  if (exact !== undefined) return exact;
  const lower = name.toLowerCase();
  return struct.fields.find((field) => field.name.toLowerCase() === lower);
}

function unknownColumn(path: readonly string[], depth: number, within: StructType): TableError {
  const names = within.fields.map((field) => field.name);
  const dotted = path.slice(depth).join('.');
  const name = path[depth]!;
  const whole =
    depth < path.length - 1 ? names.find((each) => each.toLowerCase() === dotted.toLowerCase()) : undefined;
  const nearest = whole ?? nearestName(name, names);
  const prefix = path
    .slice(0, depth)
    .map((each) => `${quoteName(each)}.`)
    .join('');
  const hint =
    nearest === undefined
      ? names.length <= 20
        ? ` It has ${names.map(quoteName).join(', ')}.`
        : ''
      : ` Did you mean ${prefix}${quoteName(nearest)}?`;
  const where = depth === 0 ? 'the table' : `the column ${path.slice(0, depth).join('.')}`;
  return new TableError('UNKNOWN_COLUMN', `There is no ${path.join('.')} in ${where}.${hint}`, {
    column: path.join('.'),
    ...(nearest === undefined ? {} : { nearest }),
  });
}

/** The name that differs least, if it differs little. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const each of names) {
    const distance = editDistance(name.toLowerCase(), each.toLowerCase(), least);
    if (distance < least) {
      least = distance;
      best = each;
    }
  }
  return best;
}

function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(previous[j]! + 1, row[j - 1]! + 1, replaced));
    }
    previous = row;
  }
  return previous[b.length]!;
}
