import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openTable } from '../../src/index.js';
import { type ExampleFolder, examplesIn, openExampleFolder, typeFaults } from '../support/examples.js';
import { tablectl } from '../support/tablectl.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = join(ROOT, 'docs/cookbook.md');
const run = promisify(execFile);

interface Recipe {
  readonly title: string;
  readonly text: string;
}

const recipes: Recipe[] = (await readFile(PAGE, 'utf8'))
  .split(/^## /m)
  .slice(1)
  .map((section) => ({ title: section.slice(0, section.indexOf('\n')), text: section }));

/** What each recipe promises, seen in its tables. */
const outcomes: Readonly<Record<string, () => Promise<void>>> = {
  'Daily replace': async () => {
    expect(await rows('orders-table', 'id')).toEqual(['1', '3']);
    expect(await states('orders.ts', '2024-01-05')).toEqual(['done', 'done', 'empty', 'missing']);
  },
  'Late data': async () => {
    expect(await rows('clean-table', 'id')).toEqual(['1', '3', '4', '5']);
    expect(await states('clean.ts', '2024-01-05')).toEqual(['done', 'empty', 'done', 'done']);
    const { runs } = await document('runs', 'clean.ts');
    expect(runs.map(({ attempt }: { attempt: number }) => attempt)).toEqual([2, 1, 2, 2]);
  },
  'Upsert where replacing cannot be': async () => {
    expect(await rows('customers-table', 'id', 'name')).toEqual(['1 Ada Lovelace', '2 Ben']);
  },
  'Append once': async () => {
    const days = ['2024-01-01', '2024-01-02', '2024-01-03', '2024-01-04'];
    expect(await rows('report-table', 'day')).toEqual(days);
    expect((await readFile('bought.txt', 'utf8')).trim().split('\n')).toEqual(days);
  },
  'Two pipelines into one table': async () => {
    const pages = ['app home', 'app home', 'app settings', 'app settings', 'web /', 'web /'];
    expect(await rows('visits-table', 'source', 'page')).toEqual(pages);
  },
  'Repairing a bad month': async () => {
    expect(await rows('sales-table', 'tax')).toEqual(Array(31 + 29 + 15).fill('19'));
    const { runs } = await document('runs', 'sales.ts');
    const versions = runs.map(({ codeVersion }: { codeVersion: string }) => codeVersion);
    expect(versions.filter((version: string) => version === 'v0')).toHaveLength(31);
    expect(versions).not.toContain('v1');
    await command('undo', 'sales.ts', '--interval', '2024-02-29');
    expect((await rows('sales-table', 'tax')).at(-1)).toBe('91');
    const { plan } = await document('catchup', 'sales.ts', '--until', '2024-03-16');
    expect(plan).toMatchObject({ items: [], left: { undone: 1 } });
  },
  'Moving an append job over': async () => {
    expect(await rows('measures-table', 'day')).toEqual([
      '2023-12-31',
      '2024-01-01',
      '2024-01-02',
      '2024-01-03',
      '2024-01-04',
    ]);
    await writeFile('late.csv', 'day,value\n2024-01-03,3\n');
    await command('import', 'measures-table', 'late.csv');
    expect(await states('takeover.ts', '2024-01-05')).toEqual(['done', 'changed', 'done']);
  },
  'Days of a time zone': async () => {
    const days = await rows('power-table', 'day');
    const count = (day: string): number => days.filter((each) => each === day).length;
    expect([count('2024-03-31'), count('2024-10-27'), count('2024-10-28')]).toEqual([23, 25, 24]);
    expect(new Set(await rows('power-table', 'at')).size).toBe(23 + 25 + 24);
  },
};

let folder: ExampleFolder;
const home = process.cwd();

beforeAll(async () => {
  folder = await openExampleFolder();
  process.chdir(folder.path);
});
afterEach(() => {
  delete process.env.CODE_VERSION;
});
afterAll(async () => {
  process.chdir(home);
  await folder.remove();
});

async function rows(table: string, ...columns: string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const row of (await openTable(table)).scan({ columns }))
    found.push(Object.values(row).join(' '));
  return found.sort();
}

async function command(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await tablectl(args);
  expect(code, stderr).toBe(0);
  return stdout;
}

// biome-ignore lint/suspicious/noExplicitAny: documents whose schemas other tests check
async function document(...args: string[]): Promise<any> {
  return JSON.parse(await command(...args, '--json'));
}

async function states(file: string, to: string): Promise<string[]> {
  const { intervals } = await document('coverage', file, '--to', to);
  return intervals.map(({ state }: { state: string }) => state);
}

const COMMAND = /^((?:\w+=\S+ )*)tablectl (.*)$/;

/** Runs the lines of a block as a shell would, the command in this process; `#` lines right behind one are what it prints. */
async function play(code: string): Promise<void> {
  const lines = code.split('\n');
  let script: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const match = COMMAND.exec(lines[i]!);
    if (!match) {
      script.push(lines[i]!);
      continue;
    }
    await run('sh', ['-e', '-c', script.join('\n')]);
    script = [];
    const told: string[] = [];
    while (lines[i + 1]?.startsWith('# ')) told.push(lines[++i]!.slice(2));
    await playCommand(match[0], match[1]!, match[2]!, told);
  }
  await run('sh', ['-e', '-c', script.join('\n')]);
}

async function playCommand(
  line: string,
  assigned: string,
  words: string,
  told: readonly string[],
): Promise<void> {
  delete process.env.CODE_VERSION;
  for (const [, name, value] of assigned.matchAll(/(\w+)=(\S+)/g)) process.env[name!] = value;
  const args = [...words.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!);
  const { code, stdout, stderr } = await tablectl(args);
  const wanted = told.map((text) => /^exit code (\d+)$/.exec(text)?.[1]).find((text) => text !== undefined);
  expect(code, `${line}\n${stdout}${stderr}`).toBe(Number(wanted ?? 0));
  for (const text of told)
    if (!text.startsWith('exit code')) expect(`${stdout}${stderr}`, line).toContain(text);
}

describe('the recipes of the cookbook', () => {
  test('are all checked, and listed at the top', async () => {
    expect(recipes.map(({ title }) => title)).toEqual(Object.keys(outcomes));
    const page = await readFile(PAGE, 'utf8');
    for (const { title } of recipes)
      expect(page).toContain(`- [${title}](#${title.toLowerCase().replaceAll(' ', '-')})\n`);
  });

  test.each(recipes)('$title', async ({ title, text }) => {
    for (const { language, about, code } of examplesIn(text)) {
      if (language === 'ts') await writeFile(about!, code);
      else await play(code);
    }
    await outcomes[title]!();
  });

  test('have the types of the library', async () => {
    expect(await typeFaults(folder.path)).toBe('');
  });
});
