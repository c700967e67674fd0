import { parseJson } from './json.js';

/** What a schema uses, at any depth. */
export interface SchemaFacts {
  /** Names of primitive types; `decimal` without its precision and scale. */
  readonly types: ReadonlySet<string>;
  /** Keys of the metadata of fields. */
  readonly metadataKeys: ReadonlySet<string>;
}

const LATEST = new Map<string, SchemaFacts>();
const KEPT = 64;

/**
 * The types and metadata keys that a schema (as the log has it) uses. Kept for the schemas seen last, because every commit asks. A text that is no schema has
 * none: reading the schema is what reports it.
 */
export function schemaFacts(schemaString: string): SchemaFacts {
  const kept = LATEST.get(schemaString);
  if (kept) return kept;
  const types = new Set<string>();
  const metadataKeys = new Set<string>();
  try {
    visit(parseJson(schemaString), types, metadataKeys);
  } catch {
    // Not JSON, or nested too deeply: parseSchema says so, with the place.
  }
  const facts = { types, metadataKeys };
  if (LATEST.size >= KEPT) LATEST.delete(LATEST.keys().next().value!);
  LATEST.set(schemaString, facts);
  return facts;
}

function visit(type: unknown, types: Set<string>, metadataKeys: Set<string>): void {
  if (typeof type === 'string') {
    types.add(type.replace(/\(.*/, ''));
    return;
  }
  if (typeof type !== 'object' || type === null) return;
  if ('fields' in type && Array.isArray(type.fields)) {
    for (const field of type.fields) {
      if (typeof field !== 'object' || field === null) continue;
      if (typeof field.metadata === 'object' && field.metadata !== null)
        for (const key of Object.keys(field.metadata)) metadataKeys.add(key);
      visit(field.type, types, metadataKeys);
    }
    return;
  }
  for (const member of ['elementType', 'keyType', 'valueType'] as const)
    if (member in type) visit((type as Record<string, unknown>)[member], types, metadataKeys);
}
