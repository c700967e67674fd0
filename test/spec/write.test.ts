import { afterAll, describe, expect, test } from 'vitest';
import merges from '../../spec/cases/write/merge.json' with { type: 'json' };
import rewrites from '../../spec/cases/write/rewrite.json' with { type: 'json' };
import rules from '../../spec/cases/write/rules.json' with { type: 'json' };
import {
  createRuntime,
  createTable,
  type Isolation,
  openTable,
  parseDdl,
  type Row,
  type RuntimeEvent,
  type StructType,
  type Table,
  type TableError,
  type Verb,
} from '../../src/index.js';

interface Case {
  readonly name: string;
  readonly schema: string;
  readonly partitionBy?: readonly string[];
  readonly properties?: Record<string, string>;
  readonly files: readonly (readonly (readonly unknown[])[])[];
  readonly verb: Verb;
  readonly rows?: readonly (readonly unknown[])[];
  readonly after?: readonly (readonly unknown[])[];
  readonly status?: string;
  readonly same?: number;
  readonly read?: number;
  readonly counts?: Record<string, number>;
  readonly error?: string;
  readonly context?: Record<string, unknown>;
  /** Of top-level columns. */
  readonly metadata?: Record<string, StructType['fields'][number]['metadata']>;
  readonly other?: { readonly verb: Verb; readonly rows?: readonly (readonly unknown[])[] };
  readonly vectors?: number;
  readonly changes?: readonly (readonly unknown[])[];
  readonly token?: number;
  readonly isolation?: Isolation;
  readonly again?: string;
}

const events: RuntimeEvent[] = [];
const runtime = createRuntime({ workers: 1, onEvent: (event) => events.push(event) });
const second = createRuntime({ workers: 1 });
afterAll(async () => {
  await runtime.close();
  await second.close();
});
let tables = 0;

const rowOf = (schema: StructType, values: readonly unknown[]): Row =>
  Object.fromEntries(schema.fields.map(({ name }, i) => [name, values[i]]));

/** Rows in one spelling, whatever their order. */
function spelled(rows: readonly Row[]): string[] {
  const plain = (_: string, value: unknown): unknown =>
    typeof value === 'bigint' ? Number(value) : value instanceof Map ? [...value] : value;
  return rows.map((row) => JSON.stringify(Object.values(row), plain)).sort();
}

function schemaOf({ schema, metadata = {} }: Case): StructType {
  const fields = parseDdl(schema).fields.map((field) => ({
    ...field,
    metadata: { ...field.metadata, ...metadata[field.name] },
  }));
  return { type: 'struct', fields };
}

async function tableOf(given: Case, properties?: Record<string, string>): Promise<Table> {
  const table = await createTable(`memory://write-case-${tables++}`, {
    schema: schemaOf(given),
    partitionBy: given.partitionBy,
    properties: { ...given.properties, ...properties },
    runtime,
  });
  const { schema } = await table.snapshot();
  for (const file of given.files) await table.append(file.map((values) => rowOf(schema, values)));
  return table;
}

const filePaths = async (table: Table): Promise<string[]> =>
  (await (await table.snapshot()).files()).map(({ path }) => path);

async function run(given: Case, properties?: Record<string, string>): Promise<void> {
  const table = await tableOf(given, properties);
  const before = await filePaths(table);
  const { schema, version } = await table.snapshot();
  const written =
    typeof given.verb === 'object' && 'schema' in given.verb && given.verb.schema !== undefined
      ? await createTable(`memory://write-schema-${tables++}`, { schema: given.verb.schema, runtime })
      : undefined;
  const newSchema = written ? (await written.snapshot()).schema : schema;
  events.length = 0;
  const rows = given.rows?.map((values) => rowOf(newSchema, values));
  const { isolation, token } = given;
  const options = { isolation, ...(token === undefined ? {} : { txn: { appId: 'case', version: token } }) };
  const outcome = await table
    .stage(rows, given.verb, options)
    .then(async (staged) => {
      if (given.other) await other(table, given.other);
      return staged.commit();
    })
    .catch((error: TableError) => error);
  const read = new Set(
    events.flatMap((event) =>
      event.type === 'request' && event.operation.startsWith('get') && before.includes(encodeURI(event.key))
        ? [event.key]
        : [],
    ),
  );
  if (given.error !== undefined) {
    expect(outcome).toMatchObject({
      code: given.error,
      ...(given.context ? { context: given.context } : {}),
    });
    expect((await table.snapshot()).version).toBe(version);
    return;
  }
  expect(outcome).toMatchObject({
    status: given.status ?? 'committed',
    version: version + (given.status === 'unchanged' ? 0 : 1) + (given.other ? 1 : 0),
    ...(given.counts ? { rows: given.counts } : {}),
  });
  const left = await table.scan({ timestamp: 'string' }).toArray();
  expect(spelled(left)).toEqual(spelled(given.after!.map((values) => rowOf(newSchema, values))).map(micros));
  if (given.same !== undefined && !properties) {
    const after = await filePaths(table);
    expect(after.filter((path) => before.includes(path))).toHaveLength(given.same);
  }
  if (given.read !== undefined) expect(read.size).toBe(given.read);
  if (given.vectors !== undefined) {
    const files = await (await table.snapshot()).files();
    expect(files.filter(({ deletionVector }) => deletionVector)).toHaveLength(given.vectors);
  }
  if (given.changes) {
    const changes: unknown[] = [];
    for await (const row of table.changes({ from: version + 1, int64: 'number' }))
      changes.push([row._change_type, ...schema.fields.map(({ name }) => row[name])]);
    expect(changes.map(String).sort()).toEqual(given.changes.map(String).sort());
  }
  if (given.again !== undefined) {
    const again = await (await table.stage(rows, given.verb, options)).commit();
    expect(again).toMatchObject({ status: given.again, recorded: { commit: version + 1 } });
  }
}

/** What a second process commits meanwhile. */
async function other(table: Table, { verb, rows }: NonNullable<Case['other']>): Promise<void> {
  const theirs = await openTable(table.url, { runtime: second });
  const { schema } = await theirs.snapshot();
  const staged = await theirs.stage(
    rows?.map((values) => rowOf(schema, values)),
    verb,
  );
  await staged.commit();
}

/** Timestamps come back with all their digits. */
const micros = (text: string): string => text.replace(/T(\d\d:\d\d:\d\d)"/g, 'T$1.000000"');

const cases = [...rewrites.cases, ...merges.cases] as unknown as readonly Case[];

describe('a verb', () => {
  test.each(cases)('$name', (given) => run(given));
});

describe('a verb, with deletion vectors', () => {
  test.each(cases.filter(({ error }) => error === undefined))('$name', (given) =>
    run(
      { ...given, counts: given.counts && { ...given.counts, copied: 0 } },
      { 'delta.enableDeletionVectors': 'true' },
    ),
  );
});

describe('a verb, by the rules of its table', () => {
  test.each(rules.cases as unknown as readonly Case[])('$name', (given) => run(given));
});
