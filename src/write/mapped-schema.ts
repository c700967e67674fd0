import type { TableContext } from '../runtime/table-context.js';
import { assignColumnMapping, columnMappingMode } from '../schema/mapping.js';
import type { DataType, StructType } from '../schema/types.js';

const MAX_COLUMN_ID = 'delta.columnMapping.maxColumnId';

/** Gives columns ids and physical names where the table is to have them (protocol: Column Mapping). */
export function withMapping(
  { ctx }: TableContext,
  schema: StructType,
  configuration: Readonly<Record<string, string>>,
): { readonly schema: StructType; readonly configuration: Readonly<Record<string, string>> } {
  if (columnMappingMode({ configuration }) === 'none') return { schema, configuration };
  const greatest = Number(configuration[MAX_COLUMN_ID] ?? 0);
  const mapped = assignColumnMapping(schema, () => ctx.ids.uuid(), greatest);
  return {
    schema: mapped.schema,
    configuration: { ...configuration, [MAX_COLUMN_ID]: String(mapped.maxId) },
  };
}

const OWN = new Set(['delta.columnMapping.id', 'delta.columnMapping.physicalName']);

/** The schema as its maker knows it, without the ids and physical names that a table gives. */
export function withoutMapping(schema: StructType): StructType {
  return {
    ...schema,
    fields: schema.fields.map((field) => ({
      ...field,
      dataType: typeWithoutMapping(field.dataType),
      metadata: Object.fromEntries(Object.entries(field.metadata).filter(([key]) => !OWN.has(key))),
    })),
  };
}

function typeWithoutMapping(type: DataType): DataType {
  switch (type.type) {
    case 'struct':
      return withoutMapping(type);
    case 'array':
      return { ...type, elementType: typeWithoutMapping(type.elementType) };
    case 'map':
      return {
        ...type,
        keyType: typeWithoutMapping(type.keyType),
        valueType: typeWithoutMapping(type.valueType),
      };
    default:
      return type;
  }
}
