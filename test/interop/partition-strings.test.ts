import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTable, parseDdl } from '../../src/index.js';
import { expectRows, folder, open, rowOf, schemaOf, shared, startSpark } from './engines.js';
import { HARD_STRINGS, linesOf, WRITTEN_BY_OTHERS } from './values.js';

const root = folder();
const { engines, runtime } = shared();
startSpark();
const schema = parseDdl('id int, c string');
const rows = (lines: readonly string[]) => lines.map((line) => rowOf(line, schema));

const LINES = linesOf(HARD_STRINGS);
const AGAIN = linesOf(HARD_STRINGS, 1000);

describe('partition values that are hard on paths', () => {
  it('written and overwritten here are read by every engine, and leave no old file', async () => {
    const url = join(root, 'ours');
    const table = await createTable(url, { schema, partitionBy: ['c'], runtime });
    await table.append(rows(LINES));
    await expectRows(url, LINES);
    const { added, removed } = await table.overwritePartitions(rows(AGAIN));
    expect({ added: added.files, removed: removed.files }).toEqual({
      added: LINES.length,
      removed: LINES.length,
    });
    await expectRows(url, AGAIN);
  });

  it('as long as 300 characters are read by every engine', async () => {
    const url = join(root, 'long');
    const lines = linesOf(['x'.repeat(300), 'é'.repeat(300)]);
    const table = await createTable(url, { schema, partitionBy: ['c'], runtime });
    await table.append(rows(lines));
    await expectRows(url, lines);
  });

  it.each(['spark', 'deltars'] as const)(
    'written by %s are read here, overwritten here and read again',
    async (engine) => {
      const url = join(root, engine);
      const [lines, again] = [linesOf(WRITTEN_BY_OTHERS), linesOf(WRITTEN_BY_OTHERS, 1000)];
      await engines.ask(`${engine}.write`, {
        url,
        schema: schemaOf(schema),
        lines,
        partitionBy: ['c'],
      });
      await expectRows(url, lines);
      const table = await open(url);
      const { removed } = await table.overwritePartitions(rows(again));
      expect(removed.files).toBe(lines.length);
      await expectRows(url, again);
    },
  );

  it('are overwritten by Spark where they were written here', async () => {
    const url = join(root, 'overwritten');
    const [lines, again] = [linesOf(WRITTEN_BY_OTHERS), linesOf(WRITTEN_BY_OTHERS, 1000)];
    const table = await createTable(url, { schema, partitionBy: ['c'], runtime });
    await table.append(rows(lines));
    await engines.ask('spark.write', {
      url,
      schema: schemaOf(schema),
      lines: again,
      mode: 'overwrite',
      options: { partitionOverwriteMode: 'dynamic' },
    });
    await expectRows(url, again);
  });

  it('are kept apart in two columns, NULL beside them', async () => {
    const url = join(root, 'two');
    const two = parseDdl('id int, a string, b date');
    const lines = [
      '{"id":1,"a":null,"b":"2024-01-01"}',
      '{"id":2,"a":null,"b":null}',
      '{"id":3,"a":"x","b":null}',
      '{"id":4,"a":"x","b":"2024-01-01"}',
    ];
    const table = await createTable(url, { schema: two, partitionBy: ['b', 'a'], runtime });
    await table.append(lines.map((line) => rowOf(line, two)));
    await expectRows(url, lines);
    const again = '{"id":20,"a":null,"b":null}';
    await table.overwritePartitions([rowOf(again, two)]);
    await expectRows(url, [lines[0]!, again, ...lines.slice(2)]);
  });
});
