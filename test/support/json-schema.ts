import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

type Schema = boolean | { readonly [keyword: string]: unknown };

const FOLDER = new URL('../../spec/schema/', import.meta.url);
const SILENT = new Set([
  '$schema',
  '$id',
  '$defs',
  'title',
  'description',
  'required',
  'additionalProperties',
]);

/** Where a document is not as `spec/schema/<name>.json` says, in words; `definition` names one of its `$defs`. Empty where it is. */
export function schemaFaults(name: string, document: unknown, definition?: string): string[] {
  const root = JSON.parse(readFileSync(fileURLToPath(new URL(`${name}.json`, FOLDER)), 'utf8')) as Schema;
  return faultsOf(
    definition === undefined ? root : resolve(root, `#/$defs/${definition}`),
    document,
    '',
    root,
  );
}

/** The keywords of JSON Schema 2020-12 that the project's schemas use; another one is a fault of the schema. */
function faultsOf(schema: Schema, value: unknown, at: string, root: Schema): string[] {
  if (typeof schema === 'boolean') return schema ? [] : [`${at}: not allowed`];
  return Object.entries(schema).flatMap(([keyword, wanted]) => {
    const fault = (is: boolean): string[] =>
      is ? [] : [`${at || '/'}: ${keyword} ${JSON.stringify(wanted)}, got ${JSON.stringify(value)}`];
    switch (keyword) {
      case '$ref':
        return faultsOf(resolve(root, wanted as string), value, at, root);
      case 'type':
        return fault([wanted].flat().some((type) => isOf(type as string, value)));
      case 'const':
        return fault(value === wanted);
      case 'enum':
        return fault((wanted as unknown[]).includes(value));
      case 'pattern':
        return fault(typeof value !== 'string' || new RegExp(wanted as string, 'u').test(value));
      case 'minimum':
        return fault(typeof value !== 'number' || value >= (wanted as number));
      case 'oneOf':
        return fault(
          (wanted as Schema[]).filter((one) => faultsOf(one, value, at, root).length === 0).length === 1,
        );
      case 'items':
        return Array.isArray(value)
          ? value.flatMap((item, i) => faultsOf(wanted as Schema, item, `${at}/${i}`, root))
          : [];
      case 'properties':
        return isOf('object', value) ? membersOf(schema, value as Record<string, unknown>, at, root) : [];
      default:
        return SILENT.has(keyword) ? [] : [`${at}: the schema has the keyword ${keyword}`];
    }
  });
}

function membersOf(
  schema: Exclude<Schema, boolean>,
  value: Record<string, unknown>,
  at: string,
  root: Schema,
): string[] {
  const properties = schema.properties as Record<string, Schema>;
  const missing = ((schema.required as string[] | undefined) ?? []).filter(
    (key) => !Object.hasOwn(value, key),
  );
  const rest = (schema.additionalProperties as Schema | undefined) ?? true;
  return [
    ...missing.map((key) => `${at}/${key}: missing`),
    ...Object.entries(value).flatMap(([key, member]) =>
      faultsOf(Object.hasOwn(properties, key) ? properties[key]! : rest, member, `${at}/${key}`, root),
    ),
  ];
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function resolve(root: Schema, reference: string): Schema {
  const steps = reference.replace(/^#\//, '').split('/');
  return steps.reduce((schema, step) => (schema as Record<string, Schema>)[step]!, root);
}
