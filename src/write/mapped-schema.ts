import type { TableContext } from '../runtime/table-context.js';
import { assignColumnMapping, columnMappingMode } from '../schema/mapping.js';
import type { StructType } from '../schema/types.js';

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
