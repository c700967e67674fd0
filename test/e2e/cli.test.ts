import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schemaFaults } from '../support/json-schema.js';
import { type Ran, tablectl } from '../support/tablectl.js';

const folder = mkdtempSync(join(tmpdir(), 'tablectl-'));
const table = join(folder, 'sales');
const at = (name: string): string => join(folder, name);
const file = (name: string, text: string): string => {
  writeFileSync(at(name), text);
  return at(name);
};

async function done(...args: string[]): Promise<Ran & { bytes: Buffer }> {
  const ran = await tablectl(args);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  return ran;
}

async function document(schema: string, ...args: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await done(...args, '--json');
  const parsed = JSON.parse(stdout) as Record<string, unknown>;
  expect(schemaFaults(schema, parsed)).toEqual([]);
  return parsed;
}

beforeAll(async () => {
  await done(
    'create',
    table,
    '--schema',
    'id long not null, price decimal(10,2), day date',
    '--partition-by',
    'day',
    '--name',
    'Sales',
  );
  const rows = file('rows.csv', 'id,price,day\n1,12.50,2024-01-01\n2,,2024-01-02\n9007199254740993,0.10,\n');
  await done('import', table, rows);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('documents of --json', () => {
  test('info', async () => {
    expect(await document('info', 'info', table)).toMatchObject({
      name: 'Sales',
      version: 1,
      rows: 3,
      files: 3,
      partitionColumns: ['day'],
    });
  });

  test('schema', async () => {
    expect(await document('schema', 'schema', table)).toMatchObject({
      ddl: 'id bigint not null, price decimal(10,2), day date',
    });
  });

  test('history, as a document and as lines', async () => {
    const { versions } = await document('history', 'history', table);
    expect(versions).toMatchObject([
      { version: 1, operation: 'WRITE' },
      { version: 0, operation: 'CREATE TABLE' },
    ]);
    const { stdout } = await done('history', table, '--limit', '1', '--ndjson');
    expect(schemaFaults('history', JSON.parse(stdout), 'version')).toEqual([]);
  });

  test('files say why each is kept or skipped', async () => {
    const { files } = await document(
      'files',
      'files',
      table,
      '--where',
      "day = date '2024-01-02' and id < 5",
    );
    const verdicts = (files as { kept: boolean; skippedBy?: string }[]).map(
      ({ kept, skippedBy }) => skippedBy ?? kept,
    );
    expect(verdicts.sort()).toEqual(['partition', 'partition', true].sort());
    const byStatistics = await document('files', 'files', table, '--where', 'id > 100');
    expect(byStatistics.files).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          kept: false,
          skippedBy: 'statistics',
          evidence: [{ column: 'id', min: '1', max: '1', nullCount: 0 }],
        }),
      ]),
    );
  });

  test('partitions are in the order of their values', async () => {
    const { partitions } = await document('partitions', 'partitions', table);
    expect(partitions).toMatchObject([
      { values: { day: null } },
      { values: { day: '2024-01-01' } },
      { values: { day: '2024-01-02' } },
    ]);
  });

  test('rows of cat', async () => {
    const { rows } = await document('rows', 'cat', table, '--where', 'day is null');
    expect(rows).toEqual([{ id: '9007199254740993', price: '0.10', day: null }]);
  });

  test('protocol', async () => {
    expect(await document('protocol', 'protocol', table)).toMatchObject({ readable: true, writable: true });
  });

  test('log', async () => {
    const { actions } = await document('log', 'log', table, '1');
    expect(actions).toHaveLength(4);
  });

  test('doctor', async () => {
    expect(await document('doctor', 'doctor', table)).toMatchObject({
      ok: true,
      conditionalWrites: 'honoured',
    });
  });

  test('changes', async () => {
    const feed = at('feed');
    await done('create', feed, '--schema', 'n long');
    const refused = await tablectl(['changes', feed, '--from', '0', '--json']);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'FEED_UNAVAILABLE' } });
    await done('import', feed, file('n.ndjson', '{"n":1}\n{"n":2}\n'));
    // As another engine would have made the table.
    const first = join(feed, '_delta_log/00000000000000000000.json');
    const log = await readFile(first, 'utf8');
    writeFileSync(
      first,
      log
        .replace('"configuration":{}', '"configuration":{"delta.enableChangeDataFeed":"true"}')
        .replace('"minWriterVersion":2', '"minWriterVersion":4'),
    );
    const { rows, columns } = await document('rows', 'changes', feed, '--from', '1');
    expect(columns).toMatchObject([
      { name: 'n' },
      { name: '_change_type' },
      { name: '_commit_version' },
      { name: '_commit_timestamp' },
    ]);
    expect(rows).toMatchObject([{ n: 1, _change_type: 'insert', _commit_version: 1 }, { n: 2 }]);
  });

  test('export', async () => {
    expect(await document('export', 'export', table, '-o', at('out.ndjson'))).toMatchObject({
      rows: 3,
      format: 'ndjson',
    });
  });

  test('a failure is one document on standard output, and words on standard error', async () => {
    const { code, stdout, stderr } = await tablectl(['info', at('typo'), '--json']);
    expect(code).toBe(1);
    expect(schemaFaults('error', JSON.parse(stdout))).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'NOT_A_TABLE' } });
    expect(stderr).toContain(at('typo'));
  });
});

describe('output for people', () => {
  test('has no colours in a pipe, colours on a terminal, and none there with NO_COLOR', async () => {
    const args = ['info', table];
    expect((await tablectl(args)).stdout).not.toContain('\u001b');
    expect((await tablectl(args, { tty: true })).stdout).toContain('\u001b[1m');
    expect((await tablectl(args, { tty: true, env: { NO_COLOR: '1' } })).stdout).not.toContain('\u001b');
  });

  test('cat prints a table', async () => {
    const { stdout } = await done(
      'cat',
      table,
      '--where',
      'id < 3 and price is not null',
      '--columns',
      'price,id',
    );
    expect(stdout).toBe('price  id\n12.50   1\n');
  });

  test('cat --canonical prints one text a value', async () => {
    const { stdout } = await done('cat', table, '--canonical', '--where', 'id = 1');
    expect(stdout).toBe('{"id":"1","price":"12.50","day":"2024-01-01"}\n');
  });

  test('cat --limit and --version', async () => {
    expect((await done('cat', table, '--limit', '1', '--ndjson')).stdout.trim().split('\n')).toHaveLength(1);
    expect((await done('cat', table, '--version', '0', '--ndjson')).stdout).toBe('');
  });

  test('partitions --chart draws a bar a partition', async () => {
    expect((await done('partitions', table, '--chart')).stdout).toContain('\u2588');
  });

  test('every command has help with examples', async () => {
    const { stdout } = await tablectl(['--help']);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) (?:\[options\] )?</gm)].map((match) => match[1]!);
    expect(commands).toEqual(expect.arrayContaining(['create', 'import', 'delete', 'update', 'completion']));
    for (const command of commands) {
      const help = await tablectl([command, '--help']);
      expect(help.code).toBe(0);
      expect(help.stdout, command).toMatch(/Examples:\n.*tablectl /);
    }
  });
});

describe('mistakes', () => {
  const cases: [name: string, args: string[], code: number, words: RegExp][] = [
    ['a path that is no table', ['history', at('typo')], 1, /no Delta table at .*typo/],
    ['an unknown column', ['cat', table, '--where', 'pricee > 1'], 1, /pricee.*price/s],
    ['an unknown column to show', ['cat', table, '--columns', 'nope'], 1, /no column 'nope'.*id, price, day/],
    ['a version that is not there', ['cat', table, '--version', '99'], 1, /99.*0 to 1/],
    ['an unknown option', ['cat', table, '--limt', '3'], 2, /unknown option '--limt'.*--limit/s],
    ['an unknown command', ['cta', table], 2, /unknown command 'cta'.*cat/s],
    ['a limit that is no number', ['cat', table, '--limit', 'x'], 2, /whole number/],
    ['no command', [], 2, /Usage/],
    ['options that exclude each other', ['cat', table, '--json', '--ndjson'], 2, /cannot be used with/],
    ['a token that is none', ['import', table, at('rows.csv'), '--token', 'x'], 2, /APP:VERSION/],
    ['a URL of no known kind', ['info', 'ftp://host/t'], 1, /ftp/],
    ['a table that is there', ['create', table, '--schema', 'id long'], 1, /already/],
    ['a bad schema', ['create', at('typo'), '--schema', 'id lung'], 1, /lung/],
    ['a missing input file', ['import', table, at('none.csv')], 1, /none\.csv.*no such file/],
    ['an input of unknown format', ['import', table, '-'], 1, /--format/],
    [
      'an input of another format',
      ['import', table, at('rows.csv'), '--format', 'parquet'],
      1,
      /rows\.csv.*Parquet/,
    ],
    ['a table that is not there', ['import', at('typo'), at('rows.csv')], 1, /--create/],
    ['--json without a file to export to', ['export', table, '--format', 'csv', '--json'], 2, /-o FILE/],
    ['an export without a format', ['export', table, '-o', at('out')], 1, /--format/],
  ];

  test.each(cases)('%s', async (_, args, code, words) => {
    const ran = await tablectl(args);
    expect(ran.stderr).toMatch(words);
    expect(ran.code).toBe(code);
    expect(existsSync(at('typo'))).toBe(false);
  });

  test('spellings of one place are one table', async () => {
    for (const spelling of [`${table}/`, `${table}//`, `file://${table}`]) {
      expect(await document('info', 'info', spelling)).toMatchObject({ url: `file://${table}` });
    }
  });
});

describe('export and import', () => {
  test.each(['parquet', 'arrow', 'csv', 'ndjson'])('%s brings every row back', async (format) => {
    const out = at(`again.${format}`);
    await done('export', table, '-o', out);
    const copy = at(`copy-${format}`);
    await done(
      'create',
      copy,
      '--schema',
      'id long not null, price decimal(10,2), day date',
      '--partition-by',
      'day',
    );
    await done('import', copy, out);
    const canonical = async (url: string) =>
      (await done('cat', url, '--canonical')).stdout.split('\n').sort();
    expect(await canonical(copy)).toEqual(await canonical(table));
    expect(existsSync(`${out}.partial-${process.pid}`)).toBe(false);
  });

  test('an export that fails leaves no file', async () => {
    const ran = await tablectl(['export', table, '--where', 'nope = 1', '-o', at('never.csv')]);
    expect(ran.code).toBe(1);
    expect(existsSync(at('never.csv'))).toBe(false);
  });

  test('Arrow and Parquet come through standard output and input', async () => {
    for (const format of ['arrow', 'parquet']) {
      const { bytes } = await done('export', table, '--format', format);
      const copy = at(`piped-${format}`);
      const ran = await tablectl(['import', copy, '-', '--format', format, '--create'], { input: bytes });
      expect(ran.code, ran.stderr).toBe(0);
      expect(await document('info', 'info', copy)).toMatchObject({ rows: 3 });
    }
  });

  test('an import of the same partitions again changes nothing but the version', async () => {
    const url = at('again');
    const days = file('days.ndjson', '{"id":1,"day":"2024-01-01"}\n{"id":2,"day":"2024-01-02"}\n');
    const args = ['import', url, days, '--create', '--partition-by', 'day', '--mode', 'overwrite-partitions'];
    expect(await document('write', ...args)).toMatchObject({
      status: 'committed',
      version: 0,
      created: true,
      added: { rows: 2, files: 2 },
    });
    expect(await document('write', ...args)).toMatchObject({
      version: 1,
      created: false,
      added: { rows: 2 },
      removed: { rows: 2, files: 2 },
    });
    expect(await document('info', 'info', url)).toMatchObject({ rows: 2, files: 2 });
  });

  test('a token makes an import happen once', async () => {
    const url = at('once');
    const one = file('one.ndjson', '{"id":1}\n');
    expect(await document('write', 'import', url, one, '--create', '--token', 'loader:7')).toMatchObject({
      status: 'committed',
      created: true,
    });
    expect(await document('write', 'import', url, one, '--token', 'loader:7')).toMatchObject({
      status: 'skipped',
    });
    expect(await document('info', 'info', url)).toMatchObject({ rows: 1 });
  });

  test('no rows commit nothing', async () => {
    const ran = await tablectl(['import', table, '-', '--format', 'ndjson', '--json']);
    expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'unchanged', version: 1 });
  });

  test('a guard refuses with 6 and commits nothing', async () => {
    const ran = await tablectl(['import', table, at('rows.csv'), '--max-partitions', '1']);
    expect(ran).toMatchObject({ code: 6 });
    expect(ran.stderr).toContain('--max-partitions');
    expect(await document('info', 'info', table)).toMatchObject({ version: 1 });
  });

  test('several files are one commit', async () => {
    const url = at('several');
    const first = file('first.csv', 'id,name\n1,a\n');
    const second = file('second.csv', 'id\n2\n');
    expect(await document('write', 'import', url, first, second, '--create')).toMatchObject({
      version: 0,
      added: { rows: 2 },
    });
    expect((await done('cat', url, '--where', 'name is null', '--ndjson')).stdout).toBe(
      '{"id":2,"name":null}\n',
    );
  });

  test('wrong input names file, line, column, expected and got, and creates nothing', async () => {
    const bad = file('bad.csv', 'id,price\n3,1.1\nx,1.2\n');
    const ran = await tablectl(['import', table, bad, '--json']);
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      error: {
        code: 'INVALID_ROW',
        context: { file: bad, line: 3, column: 'id', expected: 'bigint', got: 'string "x"' },
      },
    });
    const broken = await tablectl([
      'import',
      at('never'),
      file('broken.ndjson', '{"a":1}\n{"a":\n'),
      '--create',
    ]);
    expect(broken.stderr).toMatch(/broken\.ndjson, line 2: this is not JSON/);
    expect(existsSync(at('never'))).toBe(false);
  });

  test('zone-less timestamps are asked about, and become what was chosen', async () => {
    const zoneless = file('zoneless.csv', 'id,at\n1,2024-01-31 12:00:00\n');
    const asked = await tablectl(['import', at('asked'), zoneless, '--create']);
    expect(asked.code).toBe(1);
    expect(asked.stderr).toMatch(/'at'.*--ntz-as utc.*writer version 2.*--ntz-as keep.*writer version 7/s);
    expect(existsSync(at('asked'))).toBe(false);
    await done('import', at('utc'), zoneless, '--create', '--ntz-as', 'utc');
    expect((await done('cat', at('utc'), '--ndjson')).stdout).toBe(
      '{"id":1,"at":"2024-01-31T12:00:00.000000Z"}\n',
    );
    expect(await document('protocol', 'protocol', at('utc'))).toMatchObject({
      minReaderVersion: 1,
      minWriterVersion: 2,
    });
    await done('import', at('kept'), zoneless, '--create', '--ntz-as', 'keep');
    expect((await done('cat', at('kept'), '--ndjson')).stdout).toBe(
      '{"id":1,"at":"2024-01-31T12:00:00.000000"}\n',
    );
    expect(await document('protocol', 'protocol', at('kept'))).toMatchObject({
      minReaderVersion: 3,
      minWriterVersion: 7,
    });
    const refused = await tablectl(['import', at('utc'), zoneless]);
    expect(refused.stderr).toMatch(/line 2.*column 'at'.*--ntz-as utc/);
    await done('import', at('utc'), zoneless, '--ntz-as', 'utc');
  });

  test('derived columns can partition the table', async () => {
    const url = at('derived');
    const events = file(
      'events.ndjson',
      '{"ts":"2024-01-31T23:30:00Z","n":1}\n{"ts":"2024-02-01T00:30:00Z","n":2}\n',
    );
    await done(
      'import',
      url,
      events,
      '--create',
      '--derive',
      'day = date(ts)',
      '--derive',
      'twice = n * 2',
      '--partition-by',
      'day',
    );
    const { partitions } = await document('partitions', 'partitions', url);
    expect(partitions).toMatchObject([{ values: { day: '2024-01-31' } }, { values: { day: '2024-02-01' } }]);
    expect((await done('cat', url, '--columns', 'day,twice', '--where', 'n = 2', '--ndjson')).stdout).toBe(
      '{"day":"2024-02-01","twice":4}\n',
    );
    await done(
      'import',
      url,
      events,
      '--derive',
      'day = date(ts)',
      '--derive',
      'twice = n * 2',
      '--mode',
      'overwrite-partitions',
    );
    expect(await document('info', 'info', url)).toMatchObject({ rows: 2 });
    const wrong = await tablectl(['import', url, events, '--derive', 'day = date(tss)']);
    expect(wrong.stderr).toMatch(/--derive day.*tss.*ts/s);
  });

  test('other partition columns than those of the table are refused', async () => {
    const ran = await tablectl(['import', table, at('rows.csv'), '--create', '--partition-by', 'id']);
    expect(ran.stderr).toMatch(/partitioned by day, not by id/);
  });

  test('ddl of one table creates another', async () => {
    const ddl = (await done('schema', table, '--ddl')).stdout.trim();
    await done('create', at('from-ddl'), '--schema', ddl);
    expect((await done('schema', at('from-ddl'), '--ddl')).stdout.trim()).toBe(ddl);
    expect(await readFile(join(at('from-ddl'), '_delta_log/00000000000000000000.json'), 'utf8')).toContain(
      '"minWriterVersion":2',
    );
  });
});
