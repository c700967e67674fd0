import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { schemaFaults } from '../support/json-schema.js';
import { type Ran, tablectl } from '../support/tablectl.js';

const folder = mkdtempSync(join(tmpdir(), 'tablectl-alter-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

async function done(...args: string[]): Promise<Ran> {
  const ran = await tablectl(args);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  return ran;
}

async function alter(...args: string[]): Promise<Record<string, unknown>> {
  const parsed = JSON.parse((await done('alter', ...args, '--json')).stdout) as Record<string, unknown>;
  expect(schemaFaults('alter', parsed)).toEqual([]);
  return parsed;
}

async function create(schema: string, ...args: string[]): Promise<string> {
  const url = join(folder, `t${made++}`);
  await done('create', url, '--schema', schema, ...args);
  return url;
}

const ddl = async (url: string): Promise<string> => (await done('schema', url, '--ddl')).stdout.trim();

describe('alter', () => {
  test('makes all changes in one commit, in the order given', async () => {
    const url = await create('id long not null, `a.b` int, s struct<x:int>');
    const told = await alter(
      url,
      ...['--set', 'delta.columnMapping.mode=name', '--set', 'delta.enableTypeWidening=true'],
      ...['--rename', '`a.b`=`c=d`', '--rename', 's.x=y', '--type', '`c=d`=bigint', '--nullable', 'id'],
      ...['--comment', 'id=the key, for good', '--move', 's=first', '--add', 'note string', '--after', 'id'],
      ...['--add-constraint', 'small=id < 10', '--name', 'sales', '--description', 'of the day'],
    );
    expect(told).toMatchObject({
      status: 'committed',
      version: 1,
      operation: 'ALTER TABLE',
      newFeatures: ['checkConstraints', 'columnMapping', 'typeWidening'],
    });
    expect(await ddl(url)).toBe(
      "s struct<y: int>, id bigint comment 'the key, for good', note string, `c=d` bigint",
    );
    const { stdout } = await done('info', url, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ name: 'sales', description: 'of the day', version: 1 });
  });

  test('--dry-run tells and commits nothing', async () => {
    const url = await create('id long');
    const ran = await done(
      'alter',
      url,
      '--add',
      'x long',
      '--set',
      'delta.enableDeletionVectors=true',
      '--dry-run',
    );
    expect(ran.stdout).toMatch(/ALTER TABLE on version 0/);
    expect(ran.stdout).toMatch(/add x bigint\n\s+set delta.enableDeletionVectors = true/);
    expect(ran.stdout).toMatch(/new features\s+deletionVectors/);
    expect(ran.stderr).toMatch(/nothing was committed/);
    expect(await alter(url, '--add', 'x long', '--dry-run')).toMatchObject({ status: 'planned', version: 0 });
    expect(await ddl(url)).toBe('id bigint');
  });

  test('sets and drops defaults, and drops features', async () => {
    const url = await create(
      'id long, note string, at timestamp',
      '--property',
      'delta.enableInCommitTimestamps=true',
    );
    const told = await alter(url, '--default', "note='by a=b'", '--default', 'at=current_timestamp()');
    expect(told).toMatchObject({ operation: 'CHANGE COLUMN', newFeatures: ['allowColumnDefaults'] });
    const again = ['--default', 'note=', '--default', 'at=', '--drop-feature', 'allowColumnDefaults'];
    const less = ['--unset', 'delta.enableInCommitTimestamps', '--drop-feature', 'inCommitTimestamp'];
    expect(await alter(url, ...again, ...less)).toMatchObject({
      version: 2,
      droppedFeatures: expect.arrayContaining(['allowColumnDefaults', 'inCommitTimestamp']),
    });
    const { stdout } = await done('protocol', url, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ minReaderVersion: 1, minWriterVersion: 2 });
    const refused = await tablectl(['alter', url, '--drop-feature', 'clustering']);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain('does not have it');
  });

  test('adds to a struct, and unsets', async () => {
    const url = await create('s struct<a:int>', '--property', 'owner=us');
    await done('alter', url, '--add', 'b int', '--within', 's', '--first', '--unset', 'owner');
    expect(await ddl(url)).toBe('s struct<b: int, a: int>');
    const ran = await done('alter', url, '--unset', 'owner');
    expect(ran.stdout).toMatch(/^unchanged: the table is so already \(version 1\)/);
  });

  test('drops a column only when asked, or with --yes', async () => {
    const url = await create('id long, x long', '--property', 'delta.columnMapping.mode=name');
    const refused = await tablectl(['alter', url, '--drop', 'x']);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toMatch(/would drop x .*--yes/s);
    expect((await done('alter', url, '--drop', 'x', '--yes')).stdout).toMatch(
      /^committed version 1: drop x in /,
    );
    expect(await ddl(url)).toBe('id bigint');
  });

  test.each([
    ['nothing to change', [], 2],
    ['no pair', ['--rename', 'id'], 2],
    ['no single name', ['--rename', 'id=a.b'], 2],
    ['no column', ['--drop', 'a..b'], 2],
    ['a column that is not there', ['--comment', 'nope=x'], 1],
    ['a name taken', ['--add', 'ID long'], 1],
  ])('refuses %s', async (_, args, code) => {
    const url = await create('id long');
    expect((await tablectl(['alter', url, ...args])).code).toBe(code);
    expect(await ddl(url)).toBe('id bigint');
  });
});
