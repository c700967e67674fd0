import type { DataType } from './types.js';

const SHORT_NAMES: Readonly<Record<string, string>> = {
  long: 'bigint',
  integer: 'int',
  short: 'smallint',
  byte: 'tinyint',
};

/** A type as Spark SQL writes it: `bigint`, `decimal(10,2)`, `array<string>`, `struct<a:int,b:string>`; names that need it in backquotes. For messages and DDL. */
export function typeText(type: DataType): string {
  switch (type.type) {
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'array':
      return `array<${typeText(type.elementType)}>`;
    case 'map':
      return `map<${typeText(type.keyType)},${typeText(type.valueType)}>`;
    case 'struct':
      return `struct<${type.fields.map((f) => `${quoteName(f.name)}:${typeText(f.dataType)}${f.nullable ? '' : ' not null'}`).join(',')}>`;
    default:
      return SHORT_NAMES[type.type] ?? type.type;
  }
}

/** A column name as DDL and SQL text need it: in backquotes unless it is a plain identifier. */
export function quoteName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``;
}

/** True when both types are the same but for nullability, field metadata and the case of nested names. */
export function sameType(a: DataType, b: DataType): boolean {
  if (a.type !== b.type) return false;
  switch (a.type) {
    case 'decimal':
      return b.type === 'decimal' && a.precision === b.precision && a.scale === b.scale;
    case 'array':
      return b.type === 'array' && sameType(a.elementType, b.elementType);
    case 'map':
      return b.type === 'map' && sameType(a.keyType, b.keyType) && sameType(a.valueType, b.valueType);
    case 'struct':
      return (
        b.type === 'struct' &&
        a.fields.length === b.fields.length &&
        a.fields.every((field, i) => {
          const other = b.fields[i]!;
          return (
            field.name.toLowerCase() === other.name.toLowerCase() && sameType(field.dataType, other.dataType)
          );
        })
      );
    default:
      return true;
  }
}

/** True for the types that hold others. */
export function isNested(type: DataType): boolean {
  return type.type === 'struct' || type.type === 'array' || type.type === 'map';
}

/** True when the type or any type inside it satisfies the test. */
export function someType(type: DataType, test: (type: DataType) => boolean): boolean {
  if (test(type)) return true;
  switch (type.type) {
    case 'struct':
      return type.fields.some((field) => someType(field.dataType, test));
    case 'array':
      return someType(type.elementType, test);
    case 'map':
      return someType(type.keyType, test) || someType(type.valueType, test);
    default:
      return false;
  }
}
