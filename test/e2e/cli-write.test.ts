import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { schemaFaults } from '../support/json-schema.js';
import { type Ran, tablectl } from '../support/tablectl.js';

const folder = mkdtempSync(join(tmpdir(), 'tablectl-write-'));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function done(...args: string[]): Promise<Ran> {
  const ran = await tablectl(args);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  return ran;
}

async function document(schema: string, ...args: string[]): Promise<Record<string, unknown>> {
  const parsed = JSON.parse((await done(...args, '--json')).stdout) as Record<string, unknown>;
  expect(schemaFaults(schema, parsed)).toEqual([]);
  return parsed;
}

function ndjson(name: string, ...rows: object[]): string {
  writeFileSync(at(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return at(name);
}

/** A table of ten days with an id and a price a day. */
let made = 0;
async function tenDays(): Promise<string> {
  const url = at(`days-${made++}`);
  const rows = Array.from({ length: 10 }, (_, i) => ({ id: i, price: i * 10, day: `2024-01-0${i}` }));
  rows[0]!.day = '2024-01-10';
  await done('import', url, ndjson('ten.ndjson', ...rows), '--create', '--partition-by', 'day');
  return url;
}

async function rowsOf(url: string, ...args: string[]): Promise<string[]> {
  return (await done('cat', url, '--canonical', ...args)).stdout.split('\n').filter(Boolean).sort();
}

async function versionOf(url: string): Promise<unknown> {
  return (await document('info', 'info', url)).version;
}

/** Every data file under the table, live or not. */
function dataFiles(url: string): string[] {
  return readdirSync(url, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.parquet'));
}

describe('an overwrite', () => {
  test('without a target is a wrong command line that says what everything would be', async () => {
    const url = await tenDays();
    const one = ndjson('one.ndjson', { id: 1, price: 1, day: '2024-01-01' });
    const ran = await tablectl(['import', url, one, '--mode', 'overwrite', '--yes', '--json']);
    expect(ran.code).toBe(2);
    expect(schemaFaults('error', JSON.parse(ran.stdout))).toEqual([]);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      error: { code: 'USAGE', context: { partitions: 10, files: 10, version: 0 } },
    });
    expect(ran.stderr).toMatch(/10 partitions, 10 files.*--where.*--all.*overwrite-partitions/s);
    expect(await versionOf(url)).toBe(0);
    expect(await rowsOf(url)).toHaveLength(10);
  });

  test('--where replaces what it names, and nothing else', async () => {
    const url = await tenDays();
    const rows = ndjson('where.ndjson', { id: 20, price: 5, day: '2024-01-03' });
    const args = ['import', url, rows, '--mode', 'overwrite', '--where', "day = date '2024-01-03'", '--yes'];
    expect(await document('write', ...args)).toMatchObject({
      status: 'committed',
      verb: 'overwrite',
      rows: { inserted: 1, deleted: 1, copied: 0 },
      removed: { files: 1 },
    });
    expect(await rowsOf(url, '--where', "day = date '2024-01-03'")).toEqual([
      '{"id":"20","price":"5","day":"2024-01-03"}',
    ]);
    expect(await rowsOf(url)).toHaveLength(10);
    const outside = ndjson('outside.ndjson', { id: 20, price: 5, day: '2024-01-04' });
    const ran = await tablectl(args.map((arg) => (arg === rows ? outside : arg)));
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/1 row is not provably inside/);
    expect(await versionOf(url)).toBe(1);
  });

  test('--all replaces everything, and keeps the schema when no rows come', async () => {
    const url = await tenDays();
    const none = ndjson('none.ndjson');
    expect(
      await document('write', 'import', url, none, '--mode', 'overwrite', '--all', '--yes'),
    ).toMatchObject({
      rows: { inserted: 0, deleted: 10 },
      removed: { files: 10 },
    });
    expect(await document('info', 'info', url)).toMatchObject({ rows: 0, partitionColumns: ['day'] });
  });

  test('counts the partitions that it empties towards --max-partitions', async () => {
    const url = await tenDays();
    const rows = ndjson('where.ndjson', { id: 20, price: 5, day: '2024-01-03' });
    const args = ['import', url, rows, '--mode', 'overwrite', '--all', '--yes', '--max-partitions', '9'];
    expect(await tablectl(args)).toMatchObject({ code: 6 });
    expect(await versionOf(url)).toBe(0);
  });
});

describe('rows that would be removed', () => {
  test('need --yes where there is no terminal: 6, nothing committed, nothing left', async () => {
    const url = await tenDays();
    const before = dataFiles(url);
    const ran = await tablectl(['delete', url, '--where', 'id < 3', '--json']);
    expect(ran.code).toBe(6);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      error: { code: 'GUARD_REFUSED', context: { guard: 'yes' } },
    });
    expect(ran.stderr).toMatch(/remove 3 rows from .*3 files would go whole, in 3 partitions.*--yes/);
    expect(ran.stderr).not.toMatch(/--max-rows-removed/);
    expect(await versionOf(url)).toBe(0);
    expect(dataFiles(url)).toEqual(before);
    const rows = ndjson('using.ndjson', { id: 3, price: 7, day: '2024-01-03' });
    const using = ['import', url, rows, '--mode', 'replace-using', '--on', 'id'];
    expect(await tablectl(using)).toMatchObject({ code: 6 });
    expect(dataFiles(url)).toEqual(before);
  });

  test('are asked about on a terminal', async () => {
    const url = await tenDays();
    const args = ['delete', url, '--where', 'id < 3'];
    const no = await tablectl(args, { answers: true, input: 'n\n' });
    expect(no).toMatchObject({ code: 6, stdout: '' });
    expect(no.stderr).toMatch(/would remove 3 rows .* Go on\? \[y\/N\] /);
    expect(await tablectl(args, { answers: true })).toMatchObject({ code: 6 });
    expect(await versionOf(url)).toBe(0);
    const yes = await tablectl(args, { answers: true, input: 'y\n' });
    expect(yes).toMatchObject({ code: 0 });
    expect(yes.stdout).toMatch(/^committed version 1, deleted 3 rows, removed 3 files/);
    expect(await rowsOf(url)).toHaveLength(7);
  });

  test('are not asked about where standard input has brought the rows', async () => {
    const url = await tenDays();
    const args = ['import', url, '-', '--format', 'ndjson', '--mode', 'overwrite', '--all'];
    const row = '{"id":1,"price":1,"day":"2024-01-01"}\n';
    const ran = await tablectl(args, { answers: true, input: row });
    expect(ran.stderr).toMatch(/no terminal to ask on.*--yes/);
    expect(ran.code).toBe(6);
  });

  test('are nothing to ask about where there are none', async () => {
    const url = await tenDays();
    expect(await document('write', 'delete', url, '--where', 'id > 100')).toMatchObject({
      status: 'unchanged',
    });
    const rows = ndjson('none-there.ndjson', { id: 30, price: 7, day: '2024-01-03' });
    expect(
      await document('write', 'import', url, rows, '--mode', 'replace-using', '--on', 'id'),
    ).toMatchObject({ status: 'committed', rows: { inserted: 1, deleted: 0 } });
  });

  test('by overwrite-partitions are named by the rows, so nothing is asked', async () => {
    const url = await tenDays();
    const rows = ndjson('day3.ndjson', { id: 3, price: 7, day: '2024-01-03' });
    expect(await document('write', 'import', url, rows, '--mode', 'overwrite-partitions')).toMatchObject({
      rows: { inserted: 1, deleted: 1 },
    });
  });

  test('beyond a guard are refused with 6', async () => {
    const url = await tenDays();
    const args = ['delete', url, '--where', 'id < 3', '--yes', '--max-rows-removed', '2'];
    const ran = await tablectl(args);
    expect(ran).toMatchObject({ code: 6 });
    expect(ran.stderr).toMatch(/3 where maxRowsRemoved allows 2.*--max-rows-removed/s);
    expect(await versionOf(url)).toBe(0);
  });
});

describe('a dry run', () => {
  test('of each verb tells the plan, commits nothing and leaves nothing', async () => {
    const url = await tenDays();
    const before = dataFiles(url);
    const rows = ndjson(
      'dry.ndjson',
      { id: 3, price: 7, day: '2024-01-03' },
      { id: 40, price: 8, day: null },
    );
    const imported = ['import', url, rows, '--mode'];
    const cases: [args: string[], plan: object][] = [
      [
        [...imported, 'append'],
        { verb: 'append', status: 'planned', added: { files: 2, rows: 2 }, removed: { files: 0 } },
      ],
      [
        [...imported, 'overwrite-partitions'],
        { verb: 'overwrite-partitions', removed: { files: 1, rows: 1 }, added: { files: 2 } },
      ],
      [[...imported, 'overwrite', '--all'], { verb: 'overwrite', removed: { files: 10, rows: 10 } }],
      [[...imported, 'replace-using', '--on', 'id'], { verb: 'replace-using', rows: { deleted: 1 } }],
      [
        [...imported, 'merge', '--on', 'id'],
        { verb: 'merge', rows: { inserted: 1, updated: 1, deleted: 0 } },
      ],
      [
        ['delete', url, '--where', "day = date '2024-01-05' or id = 6"],
        {
          verb: 'delete',
          version: 0,
          rows: { deleted: 2 },
          removed: { files: 2 },
          partitions: [{ day: '2024-01-05' }, { day: '2024-01-06' }],
        },
      ],
      [
        ['update', url, '--set', 'price = price + 1', '--where', 'id = 6'],
        { verb: 'update', rows: { updated: 1 }, rewritten: { files: 1 }, removed: { files: 1 } },
      ],
      [['delete', url, '--where', 'id > 100'], { status: 'unchanged', removedPaths: [] }],
    ];
    for (const [args, plan] of cases) {
      expect(await document('plan', ...args, '--dry-run')).toMatchObject({
        dryRun: true,
        created: false,
        ...plan,
      });
    }
    expect(await versionOf(url)).toBe(0);
    expect(dataFiles(url)).toEqual(before);
  });

  test('for people names rows, files and partitions, and says that nothing was committed', async () => {
    const url = await tenDays();
    const { stdout, stderr } = await done('delete', url, '--where', 'id = 3', '--dry-run');
    expect(stdout).toMatch(/^plan +delete on version 0$/m);
    expect(stdout).toMatch(/^rows +deleted 1 row$/m);
    expect(stdout).toMatch(/^files removed +1 row in 1 file /m);
    expect(stdout).toMatch(/^partitions +1: day=2024-01-03$/m);
    expect(stdout).not.toMatch(/rewritten/);
    expect(stderr).toBe('A dry run: nothing was committed.\n');
  });

  test('tells files that are written again from those that get a deletion vector', async () => {
    const rows = ndjson('pair.ndjson', { id: 1 }, { id: 2 });
    const args = ['--where', 'id = 1', '--dry-run'];
    await done('import', at('plain'), rows, '--create');
    expect(await document('plan', 'delete', at('plain'), ...args)).toMatchObject({
      rows: { deleted: 1, copied: 1 },
      removed: { files: 1 },
      rewritten: { files: 1 },
    });
    expect((await done('delete', at('plain'), ...args)).stdout).toMatch(
      /^of these rewritten +2 rows in 1 file/m,
    );
    await done('import', at('vectors'), rows, '--create', '--property', 'delta.enableDeletionVectors=true');
    expect(await document('plan', 'delete', at('vectors'), ...args)).toMatchObject({
      rows: { deleted: 1, copied: 0 },
      removed: { files: 0 },
      rewritten: { files: 1 },
    });
    expect((await done('delete', at('vectors'), ...args)).stdout).toMatch(
      /^rows marked in +2 rows in 1 file/m,
    );
    const asked = await tablectl(['delete', at('vectors'), '--where', 'id = 1']);
    expect(asked.stderr).toMatch(/remove 1 row from .*: 1 file would lose some of its rows\./);
  });

  test('of create tells what would be created', async () => {
    const args = ['create', at('planned'), '--schema', 'id long not null, at timestamp_ntz, day date'];
    const more = ['--partition-by', 'day', '--property', 'delta.appendOnly=true', '--description', 'by hand'];
    expect(await document('create', ...args, ...more, '--dry-run')).toMatchObject({
      schema: 'id bigint not null, at timestamp_ntz, day date',
      partitionColumns: ['day'],
      properties: { 'delta.appendOnly': 'true' },
      protocol: {
        minReaderVersion: 3,
        minWriterVersion: 7,
        features: expect.arrayContaining(['timestampNtz']),
      },
    });
    const told = await done(...args, ...more, '--dry-run');
    expect(told.stdout).toMatch(/partitioned by +day\n[\s\S]*features .*timestampNtz/);
    expect(told.stderr).toContain('nothing was created');
    expect(existsSync(at('planned'))).toBe(false);
    const token = ['--token', 'setup:1'];
    expect(await document('write', ...args, ...token)).toMatchObject({ status: 'committed', created: true });
    expect(await document('write', ...args, ...token)).toMatchObject({ status: 'skipped', created: false });
    expect((await tablectl([...args, '--dry-run'])).code).toBe(1);
  });

  test('of a table that is not there creates none', async () => {
    const rows = ndjson('dry-new.ndjson', { id: 3, day: '2024-01-03' }, { id: 4, day: '2024-01-03' });
    const plan = await document(
      'plan',
      'import',
      at('never'),
      rows,
      '--create',
      '--partition-by',
      'day',
      '--dry-run',
    );
    expect(plan).toMatchObject({
      status: 'planned',
      created: true,
      url: `file://${at('never')}`,
      added: { rows: 2, files: 1 },
      partitions: [{ day: '2024-01-03' }],
      schema: 'id bigint, day date',
    });
    expect(plan.version).toBeUndefined();
    expect(existsSync(at('never'))).toBe(false);
  });

  test('refuses what the write would be refused for', async () => {
    const url = await tenDays();
    const args = ['delete', url, '--where', 'true', '--dry-run', '--max-files-removed', '9'];
    expect(await tablectl(args)).toMatchObject({ code: 6 });
    const none = ndjson('none.ndjson');
    const empty = ['import', url, none, '--mode', 'overwrite-partitions', '--token', 'a:1', '--dry-run'];
    const ran = await tablectl(empty);
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.stderr).toMatch(/empty input with a token/);
  });
});

describe('a merge', () => {
  test('by key replaces and adds, alike however often it is run', async () => {
    const url = await tenDays();
    const rows = ndjson(
      'merge.ndjson',
      { id: 3, price: 99, day: '2024-01-03' },
      { id: 50, price: 1, day: '2024-01-11' },
    );
    const args = ['import', url, rows, '--mode', 'merge', '--on', 'id'];
    expect(await document('write', ...args)).toMatchObject({
      verb: 'merge',
      rows: { inserted: 1, updated: 1, deleted: 0 },
    });
    const once = await rowsOf(url);
    expect(once).toHaveLength(11);
    expect(await document('write', ...args)).toMatchObject({ rows: { inserted: 0, updated: 2 } });
    expect(await rowsOf(url)).toEqual(once);
  });

  test('takes NULL in a key as equal to NULL', async () => {
    const url = at('null-keys');
    const first = ndjson('nulls.ndjson', { a: 'x', b: null, v: 1 }, { a: 'null', b: 'null', v: 1 });
    await done('import', url, first, '--create');
    const again = ndjson('nulls-again.ndjson', { a: 'x', b: null, v: 2 });
    for (let i = 0; i < 3; i++) await done('import', url, again, '--mode', 'merge', '--on', 'a,b');
    expect(await rowsOf(url)).toEqual(['{"a":"null","b":"null","v":"1"}', '{"a":"x","b":null,"v":"2"}']);
  });

  test('refuses several rows of one key, unless it is told which to take', async () => {
    const url = await tenDays();
    const rows = ndjson(
      'twice.ndjson',
      { id: 3, price: 1, day: '2024-01-03' },
      { id: 3, price: 2, day: '2024-01-03' },
    );
    const args = ['import', url, rows, '--mode', 'merge', '--on', 'id'];
    const ran = await tablectl([...args, '--json']);
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.stdout)).toMatchObject({ error: { code: 'DUPLICATE_KEY' } });
    expect(await versionOf(url)).toBe(0);
    await done(...args, '--dedupe-by', 'price');
    expect(await rowsOf(url, '--where', 'id = 3', '--columns', 'price')).toEqual(['{"price":"2"}']);
    await done(...args, '--dedupe-by', 'price', '--dedupe-order', 'first');
    expect(await rowsOf(url, '--where', 'id = 3', '--columns', 'price')).toEqual(['{"price":"1"}']);
  });

  test('may create its table', async () => {
    const url = at('merged');
    const rows = ndjson('new.ndjson', { id: 1, v: 'a' }, { id: 2, v: 'b' });
    const args = ['import', url, rows, '--mode', 'merge', '--on', 'id', '--create'];
    const created = { created: true, version: 0, rows: { inserted: 2 } };
    expect(await document('write', ...args)).toMatchObject(created);
    expect(await document('write', ...args)).toMatchObject({ created: false, rows: { updated: 2 } });
    expect(await rowsOf(url)).toHaveLength(2);
  });

  test('creates its table with the token in one commit', async () => {
    const url = at('with-token');
    const rows = ndjson('once.ndjson', { id: 1, v: 'a' });
    const args = ['import', url, rows, '--mode', 'merge', '--on', 'id', '--create', '--token', 'loader:7'];
    expect(await document('write', ...args)).toMatchObject({
      created: true,
      version: 0,
      status: 'committed',
    });
    expect(await document('write', ...args)).toMatchObject({ created: false, status: 'skipped' });
    const guarded = [
      'import',
      at('guarded'),
      rows,
      '--create',
      '--partition-by',
      'v',
      '--max-partitions',
      '0',
    ];
    expect((await tablectl(guarded)).code).toBe(6);
    expect(existsSync(join(at('guarded'), '_delta_log'))).toBe(false);
  });
});

describe('replace-using', () => {
  test('replaces the rows of the keys that come', async () => {
    const url = await tenDays();
    const rows = ndjson(
      'keys.ndjson',
      { id: 3, price: 1, day: '2024-01-03' },
      { id: 3, price: 2, day: '2024-01-03' },
    );
    const args = ['import', url, rows, '--mode', 'replace-using', '--on', 'id', '--yes'];
    expect(await document('write', ...args)).toMatchObject({ rows: { inserted: 2, deleted: 1 } });
    expect(await document('write', ...args)).toMatchObject({ rows: { inserted: 2, deleted: 2 } });
    expect(await rowsOf(url)).toHaveLength(11);
    const nulls = ndjson('null-key.ndjson', { id: null, price: 1, day: '2024-01-03' });
    const using = ['import', url, nulls, '--mode', 'replace-using', '--on', 'id'];
    expect(await tablectl(using)).toMatchObject({ code: 1 });
    expect(await tablectl([...using, '--null-keys'])).toMatchObject({ code: 0 });
  });
});

describe('an update', () => {
  test('sets columns, names in backquotes too, and removes nothing', async () => {
    const url = await tenDays();
    const args = [
      'update',
      url,
      '--set',
      'price = price * 2',
      '--set',
      '`id` = id + 100',
      '--where',
      'id = 4',
    ];
    expect(await document('write', ...args)).toMatchObject({
      verb: 'update',
      rows: { updated: 1, deleted: 0 },
    });
    expect(await rowsOf(url, '--where', 'id > 100')).toEqual([
      '{"id":"104","price":"80","day":"2024-01-04"}',
    ]);
    expect(await document('write', ...args)).toMatchObject({ status: 'unchanged' });
  });
});

describe('a token', () => {
  test('makes an update happen once, and names the commit that did it', async () => {
    const url = await tenDays();
    const args = ['update', url, '--set', 'price = price + 1', '--where', 'true', '--token', 'raise:1'];
    await done(...args);
    const plan = await document('plan', ...args, '--dry-run');
    expect(plan).toMatchObject({ status: 'skipped', recorded: { appId: 'raise', version: 1, commit: 1 } });
    const { stdout } = await done(...args);
    expect(stdout).toMatch(/^skipped: raise:1 was committed before, by version 1 of the table/);
    expect(await document('write', ...args)).toMatchObject({ status: 'skipped', recorded: { commit: 1 } });
    expect(await versionOf(url)).toBe(1);
  });

  test('of a replay asks nothing', async () => {
    const url = await tenDays();
    const args = ['delete', url, '--where', 'id = 1', '--token', 'gone:1'];
    await done(...args, '--yes');
    expect(await document('write', ...args)).toMatchObject({ status: 'skipped' });
  });

  test('with --on-replay compare refuses other rows', async () => {
    const url = await tenDays();
    const rows = ndjson('compare.ndjson', { id: 60, price: 1, day: '2024-01-03' });
    const args = ['import', url, rows, '--token', 'load:1', '--on-replay', 'compare', '--json'];
    expect(JSON.parse((await done(...args)).stdout)).toMatchObject({ status: 'committed' });
    expect(JSON.parse((await done(...args)).stdout)).toMatchObject({ status: 'skipped' });
    ndjson('compare.ndjson', { id: 61, price: 1, day: '2024-01-03' });
    const ran = await tablectl(args);
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.stdout)).toMatchObject({ error: { code: 'REPLAY_DIFFERS' } });
    expect(await versionOf(url)).toBe(1);
  });
});

describe('mistakes', () => {
  const typo = at('typo');
  const input = ndjson('mistake.ndjson', { id: 1 });
  const merge = ['import', typo, input, '--mode', 'merge'];
  const cases: [name: string, args: string[], code: number, words: RegExp][] = [
    [
      'a target that the mode does not take',
      ['import', typo, input, '--where', 'true'],
      2,
      /--mode overwrite, not/,
    ],
    [
      '--all with --where',
      ['import', typo, input, '--mode', 'overwrite', '--all', '--where', 'true'],
      2,
      /--where/,
    ],
    ['a merge without a key', merge, 2, /needs --on/],
    ['--null-keys of a merge', [...merge, '--on', 'id', '--null-keys'], 2, /replace-using/],
    ['an order without columns', [...merge, '--on', 'id', '--dedupe-order', 'first'], 2, /--dedupe-by/],
    ['--on-replay without a token', ['import', typo, input, '--on-replay', 'compare'], 2, /--token/],
    ['a delete that does not say of what', ['delete', typo], 2, /--where/],
    ['an update that sets nothing', ['update', typo, '--where', 'true'], 2, /--set/],
    [
      'an assignment that is none',
      ['update', typo, '--where', 'true', '--set', 'price'],
      1,
      /NAME = EXPRESSION/,
    ],
    ['a column set twice', ['update', typo, '--where', 'true', '--set', 'a=1', '--set', 'a=2'], 1, /twice/],
    [
      'a table that is not there',
      ['delete', typo, '--where', 'true', '--yes'],
      1,
      /no Delta table at .*typo/,
    ],
  ];

  test.each(cases)('%s', async (_, args, code, words) => {
    const ran = await tablectl(args);
    expect(ran.stderr).toMatch(words);
    expect(ran.code).toBe(code);
    expect(existsSync(typo)).toBe(false);
  });

  test('an unknown column is named with those that there are', async () => {
    const url = await tenDays();
    const ran = await tablectl(['delete', url, '--where', 'prise > 1', '--yes']);
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.stderr).toMatch(/prise.*price/s);
  });
});

describe('an import that evolves the schema', () => {
  const ddl = async (url: string) => (await done('schema', url, '--ddl')).stdout;

  test('--evolve add-columns takes columns of text with the types that their values tell', async () => {
    const url = await tenDays();
    const rows = ndjson('wide.ndjson', { id: 11, day: '2024-01-05', shop: 3, at: '2024-01-05T10:00:00Z' });
    const csv = at('wide.csv');
    writeFileSync(csv, 'id,day,note\n12,2024-01-06,hot\n');
    const strict = await tablectl(['import', url, rows, '--json']);
    expect(JSON.parse(strict.stdout)).toMatchObject({ error: { code: 'UNKNOWN_COLUMN' } });
    const args = ['import', url, rows, csv, '--evolve', 'add-columns', '--derive', 'half = price / 2'];
    const plan = await document('plan', ...args, '--dry-run');
    const wanted = 'id bigint, price bigint, day date, shop bigint, at timestamp, half double, note string';
    expect(plan).toMatchObject({ status: 'planned', schema: wanted });
    expect(await versionOf(url)).toBe(0);
    expect(await document('write', ...args)).toMatchObject({ version: 1, rows: { inserted: 2 } });
    expect(await ddl(url)).toContain('note');
    expect(await rowsOf(url, '--where', 'id > 10', '--columns', 'id,shop,note')).toEqual([
      '{"id":"11","shop":"3","note":null}',
      '{"id":"12","shop":null,"note":"hot"}',
    ]);
  });

  test('--evolve overwrite makes the columns those of the input', async () => {
    const url = await tenDays();
    const rows = ndjson('other.ndjson', { day: '2024-01-05', total: 1.5 });
    const args = ['import', url, rows, '--mode', 'overwrite', '--all', '--evolve', 'overwrite'];
    expect(await document('plan', ...args, '--dry-run')).toMatchObject({
      schema: 'day date, total double',
    });
    expect(await document('write', ...args, '--yes')).toMatchObject({ removed: { files: 10 } });
    expect(await rowsOf(url)).toEqual(['{"day":"2024-01-05","total":1.5}']);
    for (const wrong of [
      ['--mode', 'merge', '--on', 'day'],
      ['--mode', 'overwrite', '--where', 'total > 1'],
      [],
    ])
      expect((await tablectl(['import', url, rows, ...wrong, '--evolve', 'overwrite'])).code).toBe(2);
    expect((await tablectl(['import', url, rows, '--evolve', 'grow'])).code).toBe(2);
  });

  test('--evolve widen takes wider types of files that tell theirs', async () => {
    const url = at('widened');
    await done('create', url, '--schema', 'id int, n int', '--property', 'delta.enableTypeWidening=true');
    const wide = at('wide-source');
    await done('import', wide, ndjson('big.ndjson', { id: 1, n: 5_000_000_000 }), '--create');
    await done('export', wide, '-o', at('wide.parquet'));
    expect((await tablectl(['import', url, at('wide.parquet')])).code).toBe(1);
    await done('import', url, at('wide.parquet'), '--evolve', 'add-columns,widen');
    expect(await rowsOf(url)).toEqual(['{"id":"1","n":"5000000000"}']);
  });

  test('takes an isolation level', async () => {
    const url = await tenDays();
    await done('delete', url, '--where', 'id = 3', '--yes', '--isolation', 'write-serializable');
    const commit = readFileSync(join(url, '_delta_log', '00000000000000000001.json'), 'utf8');
    expect(commit).toContain('"isolationLevel":"WriteSerializable"');
    expect((await tablectl(['delete', url, '--where', 'id = 3', '--isolation', 'none'])).code).toBe(2);
  });
});
