import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createRuntime, createTable, openTable, type StructType } from '../../../src/index.js';
import { serializeActions } from '../../../src/log/action-lines.js';
import { LocalStore } from '../../../src/store/local.js';
import { fakeContext } from '../../support/fake-context.js';
import { add, metadata, PROTOCOL } from '../../support/log-table.js';

const root = mkdtempSync(join(tmpdir(), 'intervale-intervals-'));
const runtime = createRuntime({ workers: 1 });
afterAll(async () => {
  await runtime.close();
  rmSync(root, { recursive: true, force: true });
});

const field = (name: string, type: string) => ({ name, type, nullable: true, metadata: {} });

/** A table as Spark leaves it with its check of types turned off. */
async function sparkTable(name: string): Promise<string> {
  const url = join(root, name);
  const schemaString = JSON.stringify({
    type: 'struct',
    fields: [field('id', 'long'), field('i', 'interval day')],
  });
  const log = serializeActions([PROTOCOL, { metaData: metadata({ schemaString }) }, add('f')]);
  await new LocalStore(fakeContext(), url).put('_delta_log/00000000000000000000.json', log);
  return url;
}

const refusal = expect.objectContaining({
  code: 'UNSUPPORTED_FEATURE',
  context: expect.objectContaining({ column: 'i', type: 'interval day to second' }),
});

describe('a column of intervals', () => {
  it('stops a new table, however its schema is given', async () => {
    const schema: StructType = {
      type: 'struct',
      fields: [{ name: 'i', dataType: { type: 'interval day to second' }, nullable: true, metadata: {} }],
    };
    await expect(createTable(join(root, 'a'), { schema, runtime })).rejects.toEqual(refusal);
    const text = 'id long, i interval day to second';
    await expect(createTable(join(root, 'b'), { schema: text, runtime })).rejects.toEqual(refusal);
  });

  it('stops every write of rows, and leaves no file behind', async () => {
    const url = await sparkTable('c');
    const table = await openTable(url, { runtime });
    await expect(table.append([{ id: 1n }])).rejects.toEqual(refusal);
    await expect(table.append([{ id: 1n, i: 5 }])).rejects.toEqual(refusal);
    await expect(table.overwrite([{ id: 1n }], { all: true })).rejects.toEqual(refusal);
    const found: string[] = [];
    for await (const page of new LocalStore(fakeContext(), url).list(''))
      found.push(...page.map(({ key }) => key));
    expect(found).toEqual(['_delta_log/00000000000000000000.json']);
  });
});
