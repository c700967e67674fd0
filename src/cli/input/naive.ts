import { TableError } from '../../errors.js';
import { someType } from '../../schema/type-text.js';
import type { DataType, StructType } from '../../schema/types.js';
import type { NtzAs } from './source.js';

/**
 * The schema in which an input is taken: zone-less timestamps become instants with `--ntz-as utc`, and stay with `keep`. Where the choice matters and
 * nobody made it, throws `INVALID_INPUT` and says what it does to the table. `target` is the schema of the table, where there is one; `adds` says that it gets the
 * columns which it lacks.
 */
export function withoutNaive(
  schema: StructType,
  target: StructType | undefined,
  ntzAs: NtzAs,
  file: string,
  adds = false,
): StructType {
  const fields = schema.fields.map((field) => {
    if (!someType(field.dataType, isNaive)) return field;
    const column = target?.fields.find(({ name }) => name.toLowerCase() === field.name.toLowerCase());
    if (column !== undefined && someType(column.dataType, isNaive)) return field;
    const isInstants = column !== undefined && someType(column.dataType, isInstant);
    const isNew = target === undefined || (adds && !isInstants);
    // A column that the table has not is refused when it is written, and dates are not instants.
    if (!isNew && !isInstants) return field;
    if (ntzAs === 'utc') return { ...field, dataType: asInstant(field.dataType) };
    if (ntzAs === 'keep' && isNew) return field;
    throw ask(field.name, !isNew, file);
  });
  return { type: 'struct', fields };
}

function isNaive(type: DataType): boolean {
  return type.type === 'timestamp_ntz';
}

function isInstant(type: DataType): boolean {
  return type.type === 'timestamp';
}

function asInstant(type: DataType): DataType {
  switch (type.type) {
    case 'timestamp_ntz':
      return { type: 'timestamp' };
    case 'struct':
      return {
        ...type,
        fields: type.fields.map((field) => ({ ...field, dataType: asInstant(field.dataType) })),
      };
    case 'array':
      return { ...type, elementType: asInstant(type.elementType) };
    case 'map':
      return { ...type, keyType: asInstant(type.keyType), valueType: asInstant(type.valueType) };
    default:
      return type;
  }
}

function ask(column: string, exists: boolean, file: string): TableError {
  const choice = exists
    ? `The table's column holds instants. With --ntz-as utc the times are taken as UTC; otherwise the column would have to be timestamp_ntz.`
    : `With --ntz-as utc the times are taken as UTC: the column is a 'timestamp', and the table stays at reader version 1 and writer version 2, which every engine can write. ` +
      `With --ntz-as keep the column is a 'timestamp_ntz', which needs the table feature timestampNtz: reader version 3 and writer version 7, which older engines refuse.`;
  return new TableError(
    'INVALID_INPUT',
    `${file}: column '${column}' holds timestamps without a zone. ${choice}`,
    {
      file,
      column,
      choices: exists ? ['utc'] : ['utc', 'keep'],
    },
  );
}
