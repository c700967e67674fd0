import type * as arrow from 'apache-arrow';
import { toArrowSchema } from '../schema/arrow.js';
import type { DataType, StructType } from '../schema/types.js';

/** The part of a schema that stands in data files: Parquet has no type for void that Delta's readers agree on, so such columns are left out. */
export function storedStruct(struct: StructType): StructType {
  return {
    ...struct,
    fields: struct.fields.flatMap((field) => {
      if (!isStored(field.dataType)) return [];
      return field.dataType.type === 'struct'
        ? [{ ...field, dataType: storedStruct(field.dataType) }]
        : [field];
    }),
  };
}

/** False for void, and for structs of nothing but void. */
export function isStored(type: DataType): boolean {
  if (type.type === 'void') return false;
  return type.type !== 'struct' || type.fields.some((field) => isStored(field.dataType));
}

/**
 * The Arrow schema that a data file is encoded from: names as given (physical, under column mapping), field ids from `delta.columnMapping.id`, lists as
 * `element`, maps as `key_value` of `key` and `value`, instants in UTC microseconds.
 */
export function fileSchema(struct: StructType): arrow.Schema {
  const schema = toArrowSchema(storedStruct(struct), { fieldIds: true });
  for (const field of schema.fields) nameEntries(field.type);
  return schema;
}

/** Arrow's own class renames a map's entries, and the Parquet engine writes the name it finds. */
function nameEntries(type: arrow.DataType): void {
  const fields = (type.children ?? []) as arrow.Field[];
  if (type.typeId === MAP) Object.assign(fields[0]!, { name: 'key_value' });
  for (const field of fields) nameEntries(field.type);
}

/** `Type.Map` of the Arrow format. */
const MAP = 17;
