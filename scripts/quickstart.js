import { existsSync, rmSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const command = resolve(root, 'dist/cli/main.js');
if (!existsSync(command)) {
  console.error('The library is not built yet: run npm install first.');
  process.exit(1);
}
const { main } = await import(command);
// The pipeline names its tables by paths of the working folder: this project's, or the one given.
const folder = resolve(process.argv[2] ?? root);
process.chdir(folder);

const source = 'quickstart-source';
const table = 'quickstart-table';
const pipeline = relative(folder, resolve(root, 'examples/quickstart/flights.ts'));
const raw = relative(folder, resolve(root, 'node_modules/vega-datasets/data/flights-3m.parquet'));
const day = '2001-03-15';
const isTTY = process.stdout.isTTY === true && !process.env.NO_COLOR;

/** What the command would print for a program. */
class Captured extends Writable {
  text = '';
  _write(chunk, _encoding, done) {
    this.text += chunk;
    done();
  }
}

function say(text) {
  process.stdout.write(`${isTTY ? `\u001b[1m${text}\u001b[22m` : text}\n`);
}

function shown(argument) {
  if (/^[\w./:=,-]+$/.test(argument)) return argument;
  return argument.includes("'") ? `"${argument}"` : `'${argument}'`;
}

/** Runs one command line as the shell would, and shows it first. */
async function run(what, ...argv) {
  say(`\n# ${what}`);
  say(`$ tablectl ${argv.map(shown).join(' ')}`);
  const exitCode = await main(argv);
  if (exitCode !== 0) process.exit(exitCode);
}

/** The document that a command prints with --json. */
async function ask(...argv) {
  const stdout = new Captured();
  const { stdin, stderr, env } = process;
  const exitCode = await main([...argv, '--json'], { stdin, stdout, stderr, env });
  if (exitCode !== 0) process.exit(exitCode);
  return JSON.parse(stdout.text);
}

/** Ends the script where the table has other rows or files than it should. */
async function expectAmount(rows, files) {
  const found = await ask('info', table);
  const isSame = found.rows === rows && found.files === files;
  say(
    `# ${found.rows} rows in ${found.files} files: ${isSame ? 'unchanged' : `there were ${rows} rows in ${files} files`}`,
  );
  if (!isSame) process.exit(1);
}

const startedAt = performance.now();
for (const folder of [source, table]) rmSync(folder, { recursive: true, force: true });

await run(
  'Three million flights, as they come, into a table with a partition a day; their times have no zone and are taken as UTC.',
  ...['import', source, raw, '--create', '--derive', 'day = date(date)', '--partition-by', 'day'],
  ...['--ntz-as', 'utc'],
);
await run(
  `A pipeline says in ${pipeline} how a day is produced. Every day of the half year, each in one commit.`,
  ...['backfill', pipeline, '--to', '2001-07-02'],
);
await run('What there is now.', 'info', table);
await run('Flights a day.', 'partitions', table, '--chart');

const { rows, files } = await ask('info', table);
for (const time of ['once more', 'and again']) {
  await run(`One day ${time}: safe to run again.`, 'run', pipeline, '--interval', day);
  await expectAmount(rows, files);
}
await run(
  'A day of which the source has nothing: done, with no rows.',
  ...['run', pipeline, '--interval', '2001-07-02'],
);
await run(
  'What is done and what is missing, from the table alone.',
  ...['coverage', table, '--to', '2001-07-04'],
);
await run(
  'Some days produced again and compared with what is in the table.',
  ...['verify', pipeline, '--to', '2001-07-03', '--sample', '4'],
);
await run(
  'The source is corrected: flights of one day that were early count as on time.',
  ...['update', source, '--set', 'delay = 0', '--where', `day = date '${day}' and delay < 0`],
);
await run(
  'Exactly that day is stale, and is run again.',
  ...['backfill', pipeline, '--to', '2001-07-03', '--reprocess', 'stale'],
);
await expectAmount(rows, files);
await run('What happened to the table.', 'history', table, '--limit', '5');
await run(
  'Late flights out of San Francisco that day.',
  ...['cat', table, '--where', `day = date '${day}' and origin = 'SFO' and delay > 180`, '--limit', '5'],
);

say(
  `\n# Done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s. The table is in ${table}/: Spark, delta-rs, DuckDB and Polars can read it too.`,
);
