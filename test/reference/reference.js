// Checks a folder of reference tables (manifest.json, tables/, expected/, large/) against the built library. Plain JavaScript, so that the script and the
// test run the same code; see reference.d.ts for its types.
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { unpackTar } from './tar.js';

const PLACEHOLDER = '@@TABLES@@';

/**
 * Copies the tables into a scratch folder, with placeholders replaced, and runs every case of the manifest; yields one result a case.
 * `lib` is what the library's modules export, gathered by the caller.
 */
export async function* checkReference(lib, folder, scratch) {
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
  const tables = join(scratch, 'tables');
  const uri = pathToFileURL(tables).href.replace(/\/+$/, '');
  for (const entry of manifest) {
    await copyTree(
      join(folder, 'tables', entry.name),
      join(tables, entry.name),
      entry.placeholder ? uri : undefined,
    );
  }
  const set = { lib, expected: join(folder, 'expected'), tables, uri };
  for (const entry of manifest) {
    const table = openReference(set, entry.name);
    yield await attempt(entry, entry.name, () => checkVersion(set, table, entry.name, undefined));
    for (const version of entry.versions ?? []) {
      const name = `${entry.name}@${version}`;
      yield await attempt(entry, name, () => checkVersion(set, table, name, version));
    }
    for (const [from, to] of entry.cdf ?? []) {
      const name = `${entry.name}.cdf.${from}-${to}`;
      yield await attempt(entry, name, () => checkChanges(set, table, name, from, to));
    }
    if (entry.rowIds) {
      const name = `${entry.name}.rowids`;
      yield await attempt(entry, name, () => checkRowIds(set, table, name));
    }
    if (entry.history) {
      const name = `${entry.name}.history`;
      yield await attempt(entry, name, () => checkHistory(set, table, name));
    }
  }
  for (const name of await listIfThere(join(folder, 'large'))) {
    if (!name.endsWith('.tar.zst')) continue;
    const base = name.slice(0, -'.tar.zst'.length);
    yield await attempt({ group: 'large' }, base, () =>
      checkLarge(set, join(folder, 'large'), base, scratch),
    );
  }
}

function openReference({ lib, tables }, name) {
  const ctx = { clock: lib.systemClock, ids: lib.systemIds, emit: () => undefined };
  return { ctx, store: lib.openStore(pathToFileURL(join(tables, name)).href, ctx) };
}

async function attempt(entry, name, check) {
  try {
    await check();
    return { group: entry.group, name, passed: true };
  } catch (error) {
    const reason = error instanceof Mismatch ? error.message : String(error?.stack ?? error);
    return { group: entry.group, name, passed: false, reason };
  }
}

class Mismatch extends Error {}

async function checkVersion(set, table, name, version) {
  const expected = await readJson(set, name);
  const { lib } = set;
  if (expected.error) {
    return mustFail(expected.error, async () => canonicalRows(lib, table, await load(lib, table, version)));
  }
  const state = await load(lib, table, version);
  await checkState(set, name, state, expected);
  if (expected.dataError) return mustFail(expected.dataError, () => canonicalRows(lib, table, state));
  if (expected.rows === null) return;
  await compareRows(set, name, await canonicalRows(lib, table, state), expected);
}

function load(lib, { store, ctx }, version) {
  return lib.loadState(store, ctx, { version });
}

async function checkState(set, name, state, expected) {
  same('version', state.version, expected.version);
  same('numFiles', state.files.count, expected.numFiles);
  same('schema', sorted(JSON.parse(state.metadata.schemaString)), sorted(JSON.parse(expected.schema)));
  same('partitionColumns', state.metadata.partitionColumns, expected.partitionColumns);
  same('protocol', protocolOf(state.protocol), protocolOf(expected.protocol));
  const txns = [...state.txns].map(([appId, txn]) => [appId, exactNumber(txn.version)]);
  same('appTransactions', sorted(Object.fromEntries(txns)), sorted(expected.appTransactions));
  if (expected.configuration)
    same('configuration', sorted(state.metadata.configuration), sorted(expected.configuration));
  if (expected.domainMetadata) {
    const domains = [...state.domains].map(([domain, action]) => [domain, action.configuration]);
    same('domainMetadata', sorted(Object.fromEntries(domains)), sorted(expected.domainMetadata));
  }
  await state.files.load({ actions: true });
  const files = Array.from(state.files.ids(), (id) => fileLine(set, state.files.add(id))).sort();
  const wanted = await readLines(set, `${name}.files.jsonl`);
  same('files', files, wanted.map((line) => fileLine(set, JSON.parse(line))).sort());
}

function fileLine({ uri }, { path, partitionValues, size, deletionVector }) {
  const place = decodeURIComponent(path.replace(PLACEHOLDER, uri)).replace(/^file:\/*/, 'file:///');
  const vector = deletionVector && {
    ...sorted(deletionVector),
    pathOrInlineDv: deletionVector.pathOrInlineDv.replace(PLACEHOLDER, uri),
  };
  return JSON.stringify([place, sorted(partitionValues), size, vector ? sorted(vector) : null]);
}

async function canonicalRows(lib, table, state, options = {}) {
  const plan = await lib.planScan(state, { allowExternalFiles: true, ...options });
  const lines = [];
  for await (const batch of lib.scanBatches(table.store, table.ctx, plan)) {
    for (const line of lib.canonicalLines(batch, plan.schema)) lines.push(line);
  }
  return lines;
}

async function compareRows(set, name, lines, expected) {
  const buffers = lines.map((line) => Buffer.from(`${line}\n`)).sort(Buffer.compare);
  const hash = createHash('sha256');
  for (const buffer of buffers) hash.update(buffer);
  if (buffers.length === expected.rows && hash.digest('hex') === expected.sha) return;
  const wanted = await readLines(set, `${name}.rows.jsonl`);
  const at = wanted.findIndex((line, i) => `${line}\n` !== buffers[i]?.toString());
  const ours = buffers[at]?.toString().trimEnd() ?? 'no row';
  throw new Mismatch(
    `${buffers.length} rows, expected ${expected.rows}; line ${at}: ${ours}\n    expected: ${wanted[at]}`,
  );
}

async function checkChanges(set, table, name, from, to) {
  const expected = await readJson(set, name);
  const { lib } = set;
  const read = async () => {
    const feed = await lib.readChanges(table.store, table.ctx, { from, to, allowExternalFiles: true });
    const lines = [];
    for await (const batch of feed.batches()) {
      for (const line of lib.canonicalLines(batch, feed.schema)) {
        lines.push(line.replace(/,"_commit_timestamp":"[^"]*"}$/, '}'));
      }
    }
    return lines;
  };
  if (expected.error) return mustFail(expected.error, read);
  await compareRows(set, name, await read(), expected);
}

async function checkRowIds(set, table, name) {
  const expected = await readJson(set, name);
  const state = await load(set.lib, table, undefined);
  await compareRows(set, name, await canonicalRows(set.lib, table, state, { rowIds: true }), expected);
}

async function checkHistory(set, table, name) {
  const expected = await readJson(set, name);
  const { metadata } = await load(set.lib, table, undefined);
  const found = [];
  for await (const { version, inCommitTimestamp } of set.lib.readHistory(table.store, { metadata })) {
    found.push({ version, inCommitTimestamp });
  }
  const byVersion = (a, b) => a.version - b.version;
  same('history', found.sort(byVersion).map(sorted), expected.sort(byVersion).map(sorted));
}

async function checkLarge(set, folder, base, scratch) {
  const { lib } = set;
  const expected = JSON.parse(await readFile(join(folder, `${base}.json`), 'utf8'));
  const target = join(scratch, 'large');
  const files = unpackTar(lib.unzstd(await readFile(join(folder, `${base}.tar.zst`))));
  for (const { name, bytes } of files) {
    await mkdir(dirname(join(target, name)), { recursive: true });
    await writeFile(join(target, name), bytes);
  }
  const log = files.map(({ name }) => name).find((name) => name.includes('_delta_log/'));
  if (log === undefined) throw new Mismatch('the archive holds no log');
  const table = openReference({ lib, tables: target }, log.slice(0, log.indexOf('_delta_log/')));
  const state = await load(lib, table, undefined);
  same('version', state.version, expected.version);
  same('numFiles', state.files.count, expected.numFiles);
  same('schema', sorted(JSON.parse(state.metadata.schemaString)), sorted(JSON.parse(expected.schema)));
  same('partitionColumns', state.metadata.partitionColumns, expected.partitionColumns);
  const paths = Array.from(state.files.ids(), (id) => Buffer.from(`${state.files.path(id)}\n`)).sort(
    Buffer.compare,
  );
  const hash = createHash('sha256');
  for (const path of paths) hash.update(path);
  same('pathsSha', hash.digest('hex'), expected.pathsSha);
}

async function mustFail(reason, run) {
  try {
    await run();
  } catch (error) {
    if (error?.name === 'TableError' && error.code !== 'INTERNAL') return;
    throw error;
  }
  throw new Mismatch(`did not fail; expected: ${reason}`);
}

function same(what, found, expected) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a === b) return;
  const at = [...a].findIndex((character, i) => character !== b[i]);
  const from = Math.max(0, at - 60);
  throw new Mismatch(`${what}: ${excerpt(a, from)}\n    expected: ${excerpt(b, from)}`);
}

function excerpt(text, from) {
  return text.slice(from, from + 300);
}

function protocolOf({ minReaderVersion, minWriterVersion, readerFeatures, writerFeatures }) {
  const features = (list) => (list ? [...list].sort() : null);
  return [minReaderVersion, minWriterVersion, features(readerFeatures), features(writerFeatures)];
}

/** A version that a double holds is a number, any other a string. */
function exactNumber(value) {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

/** The same value with the keys of every object in order. */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.keys(value)
    .sort()
    .flatMap((key) =>
      value[key] === null || value[key] === undefined ? [[key, null]] : [[key, sorted(value[key])]],
    );
  return Object.fromEntries(entries);
}

async function readJson({ expected }, name) {
  return JSON.parse(await readFile(join(expected, `${name}.json`), 'utf8'));
}

async function readLines({ expected, uri }, name) {
  const text = await readFile(join(expected, name), 'utf8').catch(() => '');
  return text.replaceAll(PLACEHOLDER, uri).split('\n').slice(0, -1);
}

async function listIfThere(folder) {
  return readdir(folder).catch(() => []);
}

async function copyTree(from, to, uri) {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyTree(source, target, uri);
    else if (uri !== undefined && from.endsWith('_delta_log') && entry.name.endsWith('.json')) {
      await writeFile(target, (await readFile(source, 'utf8')).replaceAll(PLACEHOLDER, uri));
    } else await copyFile(source, target);
  }
}
