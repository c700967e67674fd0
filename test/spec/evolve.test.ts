import { afterAll, describe, expect, test } from 'vitest';
import alters from '../../spec/cases/evolve/alter.json' with { type: 'json' };
import writes from '../../spec/cases/evolve/write.json' with { type: 'json' };
import {
  type Alteration,
  createRuntime,
  createTable,
  type EvolveOptions,
  parseDdl,
  type Row,
  type Table,
  type TableError,
  type Verb,
} from '../../src/index.js';
import { printDdl } from '../../src/schema/ddl.js';
import { serializeSchema } from '../../src/schema/schema-json.js';

interface Case {
  readonly name: string;
  readonly schema: string;
  readonly partitionBy?: readonly string[];
  readonly properties?: Record<string, string>;
  readonly rows?: readonly Row[];
  /** A write... */
  readonly verb?: Verb;
  readonly given?: readonly Row[];
  readonly evolve?: EvolveOptions['evolve'];
  readonly evolveTo?: string;
  /** ...or changes, and rows that are appended afterwards. */
  readonly alter?: readonly Alteration[];
  readonly append?: readonly Row[];
  readonly becomes?: string;
  readonly partitionedBy?: readonly string[];
  readonly after?: readonly Row[];
  readonly holds?: Record<string, string | null>;
  readonly features?: readonly string[];
  /** The protocol as it is then. */
  readonly protocol?: object;
  readonly operation?: string;
  readonly schemaHas?: string;
  readonly status?: string;
  readonly error?: string;
  readonly context?: Record<string, unknown>;
}

const runtime = createRuntime({ workers: 1 });
afterAll(() => runtime.close());
let tables = 0;

/** Rows in one spelling, whatever their order. */
function spelled(rows: readonly Row[], names: readonly string[]): string[] {
  const plain = (_: string, value: unknown): unknown =>
    typeof value === 'bigint' ? Number(value) : value instanceof Map ? [...value] : value;
  return rows
    .map((row) =>
      JSON.stringify(
        names.map((name) => row[name] ?? null),
        plain,
      ),
    )
    .sort();
}

async function outcomeOf(table: Table, given: Case): Promise<unknown> {
  if (given.alter) return table.alter(given.alter);
  const { evolve, evolveTo } = given;
  const staged = await table.stage(given.given?.slice(), given.verb ?? 'append', { evolve, evolveTo });
  return staged.commit();
}

const cases = [...writes.cases, ...alters.cases] as unknown as readonly Case[];

describe('a table whose schema changes', () => {
  test.each(cases)('$name', async (given) => {
    const table = await createTable(`memory://evolve-case-${tables++}`, {
      schema: given.schema,
      partitionBy: given.partitionBy,
      properties: given.properties,
      rows: given.rows,
      runtime,
    });
    const outcome = await outcomeOf(table, given).catch((error: TableError) => error);
    if (given.error !== undefined) {
      expect(outcome).toMatchObject({
        code: given.error,
        ...(given.context ? { context: given.context } : {}),
      });
      expect((await table.snapshot()).version).toBe(0);
      return;
    }
    const status = given.status ?? 'committed';
    expect(outcome).toMatchObject({ status, version: status === 'unchanged' ? 0 : 1 });
    if (given.append) await table.append(given.append);
    const snapshot = await table.snapshot();
    const { schema, properties, protocol, partitionColumns } = snapshot;
    expect(printDdl(schema)).toBe(printDdl(parseDdl(given.becomes ?? given.schema)));
    if (given.schemaHas) expect(serializeSchema(schema)).toContain(given.schemaHas);
    expect(partitionColumns).toEqual(given.partitionedBy ?? given.partitionBy ?? []);
    for (const [name, text] of Object.entries(given.holds ?? {})) expect(properties[name] ?? null).toBe(text);
    if (given.features)
      expect(protocol.writerFeatures ?? []).toEqual(expect.arrayContaining([...given.features]));
    if (given.protocol) expect(protocol).toEqual(given.protocol);
    if (given.operation) {
      const told = [];
      for await (const entry of table.history()) told.push(entry.commitInfo?.operation);
      expect(told).toContain(given.operation);
    }
    if (given.after) {
      const names = schema.fields.map(({ name }) => name);
      const rows = await table.scan({ timestamp: 'string' }).toArray();
      expect(spelled(rows, names)).toEqual(spelled(given.after, names));
    }
  });
});
