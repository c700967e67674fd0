import type { DataType, StructType } from './types.js';

const PHYSICAL_NAME = 'delta.columnMapping.physicalName';

/**
 * The schema with every field's own name as its physical one, where it has none: as data files have it that were written before columns were mapped
 * (protocol: Column Mapping).
 */
export function namedAfterThemselves(schema: StructType): StructType {
  return {
    type: 'struct',
    fields: schema.fields.map((field) => ({
      ...field,
      dataType: typeNamed(field.dataType),
      metadata: { [PHYSICAL_NAME]: field.name, ...field.metadata },
    })),
  };
}

function typeNamed(type: DataType): DataType {
  switch (type.type) {
    case 'struct':
      return namedAfterThemselves(type);
    case 'array':
      return { ...type, elementType: typeNamed(type.elementType) };
    case 'map':
      return { ...type, keyType: typeNamed(type.keyType), valueType: typeNamed(type.valueType) };
    default:
      return type;
  }
}
