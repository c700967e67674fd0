import assert from 'node:assert/strict';
import { isTableError } from '../errors.js';
import type { Context } from '../runtime/context.js';
import { compareKeys } from './keys.js';
import type { ObjectMeta, Store } from './store.js';

/** One rule that every store keeps. `run` throws an `AssertionError` where the store does not. */
export interface StoreConformanceCase {
  readonly name: string;
  /** Works under a folder of its own, so that cases may run on one store side by side. Objects are left behind. */
  run(store: Store, ctx: Context): Promise<void>;
}

type Rule = (store: Store, folder: string) => Promise<void>;

const PART_AND_MORE = (8 << 20) + (3 << 20) + 17;
const MORE_THAN_A_PAGE = 1_050;
/** Names that differ between byte order and JavaScript's order, or that an encoding somewhere might change. */
const HARD_NAMES = [
  'a b',
  'a%20b',
  'a%2Fb',
  'a+b',
  'a-b',
  'a/b',
  'a/b c/d',
  'a&b',
  "a'b",
  'a"b',
  'a<b>',
  'a=b',
  'a?b#c',
  'a:b',
  'a\\b',
  'a~b',
  'aa',
  'A',
  'p=..',
  'p=x.',
  'é',
  'e\u0301',
  '\uff5e',
  '\u{1f600}',
  '$id',
  '[x]',
  '{x}',
  '__HIVE_DEFAULT_PARTITION__',
];

/**
 * What a `Store` must do, as cases for any test runner: `for (const { name, run } of storeConformance()) test(name, () => run(store, ctx))`.
 * They need a store that may be written to; each leaves some objects under a folder of random name.
 */
export function storeConformance(): StoreConformanceCase[] {
  return Object.entries(RULES).map(([name, rule]) => ({
    name,
    run: (store, ctx) => rule(store, `conformance-${ctx.ids.uuid()}/`),
  }));
}

const RULES: Readonly<Record<string, Rule>> = {
  'reads back the bytes that were put, whole, by range and from the end': async (store, folder) => {
    const key = `${folder}object`;
    await store.put(key, bytes('0123456789'));
    assert.equal(text(await store.get(key)), '0123456789');
    assert.equal(text(await store.getRange(key, 0, 4)), '0123');
    assert.equal(text(await store.getRange(key, 8, 10)), '89');
    const tail = await store.getTail(key, 3);
    assert.deepEqual([text(tail.bytes), tail.size], ['789', 10]);
  },

  'gives fewer bytes where a range passes the end, and none beyond it': async (store, folder) => {
    const key = `${folder}object`;
    await store.put(key, bytes('0123456789'));
    assert.equal(text(await store.getRange(key, 7, 100)), '789');
    assert.equal((await store.getRange(key, 10, 20)).length, 0);
    assert.equal((await store.getRange(key, 50, 60)).length, 0);
    assert.equal((await store.getRange(key, 3, 3)).length, 0);
  },

  'gives the whole object as the tail where it is shorter than asked': async (store, folder) => {
    const key = `${folder}object`;
    await store.put(key, bytes('abc'));
    const tail = await store.getTail(key, 1000);
    assert.deepEqual([text(tail.bytes), tail.size], ['abc', 3]);
    const none = await store.getTail(key, 0);
    assert.deepEqual([none.bytes.length, none.size], [0, 3]);
  },

  'holds objects of no bytes': async (store, folder) => {
    const key = `${folder}empty`;
    assert.deepEqual(await store.putIfAbsent(key, new Uint8Array()), { outcome: 'created' });
    assert.equal((await store.get(key)).length, 0);
    assert.equal((await store.getRange(key, 0, 10)).length, 0);
    const tail = await store.getTail(key, 10);
    assert.deepEqual([tail.bytes.length, tail.size], [0, 0]);
    assert.equal((await store.head(key))?.size, 0);
    assert.equal(await store.putStream(`${folder}stream`, stream([])), 0);
    assert.equal((await store.get(`${folder}stream`)).length, 0);
  },

  'says NOT_FOUND for what is not there, and undefined from head': async (store, folder) => {
    const key = `${folder}nowhere/nothing`;
    await assert.rejects(store.get(key), isNotFound);
    await assert.rejects(store.getRange(key, 0, 1), isNotFound);
    await assert.rejects(store.getTail(key, 1), isNotFound);
    assert.equal(await store.head(key), undefined);
    assert.deepEqual(await keys(store, folder), []);
  },

  'replaces an object by put': async (store, folder) => {
    const key = `${folder}object`;
    await store.put(key, bytes('the first, longer'));
    await store.put(key, bytes('second'));
    assert.equal(text(await store.get(key)), 'second');
    assert.equal(await store.putStream(key, stream([bytes('third'), bytes(' one')])), 9);
    assert.equal(text(await store.get(key)), 'third one');
  },

  'tells size and time of an object': async (store, folder) => {
    const key = `${folder}object`;
    await store.put(key, bytes('12345'));
    const head = await store.head(key);
    assert.equal(head?.key, key);
    assert.equal(head?.size, 5);
    assert.ok(Number.isSafeInteger(head?.modifiedAt));
    const [listed] = await metas(store, folder);
    assert.deepEqual([listed?.key, listed?.size], [key, 5]);
  },

  'does not keep hold of the bytes given or handed out': async (store, folder) => {
    const given = bytes('before');
    await store.put(`${folder}object`, given);
    given.fill(0);
    const handed = await store.get(`${folder}object`);
    assert.equal(text(handed), 'before');
    handed.fill(0);
    assert.equal(text(await store.get(`${folder}object`)), 'before');
  },

  'creates by putIfAbsent once, and leaves what is there': async (store, folder) => {
    const key = `${folder}log/00000000000000000000.json`;
    assert.deepEqual(await store.putIfAbsent(key, bytes('first')), { outcome: 'created' });
    assert.deepEqual(await store.putIfAbsent(key, bytes('second')), { outcome: 'exists' });
    assert.equal(text(await store.get(key)), 'first');
    assert.deepEqual(await keys(store, folder), [key]);
  },

  'lets exactly one of racing putIfAbsents create, whole': async (store, folder) => {
    for (let round = 0; round < 5; round++) {
      const key = `${folder}${round}`;
      const contents = Array.from({ length: 8 }, (_, i) => `racer ${i} `.repeat(500));
      const results = await Promise.all(contents.map((content) => store.putIfAbsent(key, bytes(content))));
      const winners = results.flatMap(({ outcome }, i) => (outcome === 'created' ? [contents[i]] : []));
      assert.equal(winners.length, 1, `${winners.length} racers created ${key}`);
      assert.ok(results.every(({ outcome }) => outcome !== 'ambiguous'));
      assert.equal(text(await store.get(key)), winners[0]);
    }
  },

  'creates again what was deleted': async (store, folder) => {
    const key = `${folder}object`;
    await store.putIfAbsent(key, bytes('first'));
    await store.delete(key);
    assert.equal(await store.head(key), undefined);
    assert.deepEqual(await store.putIfAbsent(key, bytes('second')), { outcome: 'created' });
    assert.equal(text(await store.get(key)), 'second');
  },

  'deletes without error what is not there': async (store, folder) => {
    await store.put(`${folder}a/b`, bytes('x'));
    await store.delete(`${folder}a/b`);
    await store.delete(`${folder}a/b`);
    await store.delete(`${folder}never/was`);
    assert.deepEqual(await keys(store, folder), []);
  },

  'takes keys as they are, with no decoding': async (store, folder) => {
    await Promise.all(HARD_NAMES.map((name) => store.put(folder + name, bytes(name))));
    for (const name of HARD_NAMES) assert.equal(text(await store.get(folder + name)), name);
    const expected = HARD_NAMES.map((name) => folder + name).sort(compareKeys);
    assert.deepEqual((await keys(store, folder)).sort(compareKeys), expected);
    await Promise.all(HARD_NAMES.map((name) => store.delete(folder + name)));
    assert.deepEqual(await keys(store, folder), []);
  },

  'lists by the UTF-8 bytes of the keys, where it says that it is ordered': async (store, folder) => {
    await Promise.all(HARD_NAMES.map((name) => store.put(folder + name, bytes('x'))));
    const listed = await keys(store, folder);
    const sorted = HARD_NAMES.map((name) => folder + name).sort(compareKeys);
    assert.deepEqual(store.ordered ? listed : listed.sort(compareKeys), sorted);
  },

  'lists only what comes after `after`, which need not exist': async (store, folder) => {
    await Promise.all(HARD_NAMES.map((name) => store.put(folder + name, bytes('x'))));
    const sorted = HARD_NAMES.map((name) => folder + name).sort(compareKeys);
    for (const after of [
      ...sorted,
      `${folder}a`,
      `${folder}a/`,
      `${folder}a/b c/`,
      `${folder}\u{1f601}`,
      folder.slice(0, -1),
    ]) {
      const listed = (await keys(store, folder, after)).sort(compareKeys);
      assert.deepEqual(
        listed,
        sorted.filter((key) => compareKeys(key, after) > 0),
        `after ${after}`,
      );
    }
  },

  'lists by prefix, also within a name, and through folders': async (store, folder) => {
    for (const name of ['log/1.json', 'log/10.json', 'log/2.json', 'log/side/1', 'logs', 'other/1'])
      await store.put(folder + name, bytes('x'));
    const under = async (prefix: string) =>
      (await keys(store, folder + prefix)).sort(compareKeys).map((key) => key.slice(folder.length));
    assert.deepEqual(await under('log/1'), ['log/1.json', 'log/10.json']);
    assert.deepEqual(await under('log/'), ['log/1.json', 'log/10.json', 'log/2.json', 'log/side/1']);
    assert.deepEqual(await under('log'), ['log/1.json', 'log/10.json', 'log/2.json', 'log/side/1', 'logs']);
    assert.deepEqual(await under('log/side'), ['log/side/1']);
    assert.deepEqual(await under('none/'), []);
  },

  'lists every object once over several pages': async (store, folder) => {
    const names = Array.from(
      { length: MORE_THAN_A_PAGE },
      (_, i) => `${folder}p/${String(i).padStart(6, '0')}`,
    );
    for (let i = 0; i < names.length; i += 50)
      await Promise.all(names.slice(i, i + 50).map((name) => store.put(name, bytes('x'))));
    assert.deepEqual((await keys(store, `${folder}p/`)).sort(compareKeys), names);
    const rest = await keys(store, `${folder}p/`, names[20]);
    assert.deepEqual(rest.sort(compareKeys), names.slice(21));
  },

  'streams an object larger than one part': async (store, folder) => {
    const key = `${folder}large`;
    const content = pattern(PART_AND_MORE);
    async function* reused() {
      const buffer = new Uint8Array(1_000_003);
      for (let at = 0; at < content.length; at += buffer.length) {
        const piece = content.subarray(at, at + buffer.length);
        buffer.set(piece);
        yield buffer.subarray(0, piece.length);
      }
    }
    assert.equal(await store.putStream(key, reused()), content.length);
    assert.equal((await store.head(key))?.size, content.length);
    assert.ok(Buffer.from(await store.get(key)).equals(content));
    const middle = await store.getRange(key, (8 << 20) - 5, (8 << 20) + 5);
    assert.ok(Buffer.from(middle).equals(content.subarray((8 << 20) - 5, (8 << 20) + 5)));
  },

  'leaves nothing of a stream that fails, early or late': async (store, folder) => {
    for (const size of [10, PART_AND_MORE]) {
      async function* failing() {
        yield pattern(size);
        throw new Error('the source broke');
      }
      await assert.rejects(store.putStream(`${folder}broken`, failing()), /the source broke/);
      assert.equal(await store.head(`${folder}broken`), undefined);
    }
    assert.deepEqual(await keys(store, folder), []);
  },

  'keeps the old object where the stream that should replace it fails': async (store, folder) => {
    await store.put(`${folder}object`, bytes('old'));
    async function* failing() {
      yield bytes('new');
      throw new Error('the source broke');
    }
    await assert.rejects(store.putStream(`${folder}object`, failing()), /the source broke/);
    assert.equal(text(await store.get(`${folder}object`)), 'old');
  },

  'does nothing under a signal that has fired': async (store, folder) => {
    const options = { signal: AbortSignal.abort(new Error('enough')) };
    const key = `${folder}object`;
    await assert.rejects(store.put(key, bytes('x'), options), isAborted);
    await assert.rejects(store.putIfAbsent(key, bytes('x'), options), isAborted);
    await assert.rejects(store.putStream(key, stream([bytes('x')]), options), isAborted);
    await assert.rejects(store.get(key, options), isAborted);
    assert.deepEqual(await keys(store, folder), []);
  },
};

function isNotFound(error: unknown): boolean {
  return isTableError(error, 'NOT_FOUND');
}

function isAborted(error: unknown): boolean {
  return isTableError(error, 'ABORTED');
}

async function metas(store: Store, prefix: string, after?: string): Promise<ObjectMeta[]> {
  const all: ObjectMeta[] = [];
  for await (const page of store.list(prefix, after === undefined ? {} : { after })) all.push(...page);
  return all;
}

async function keys(store: Store, prefix: string, after?: string): Promise<string[]> {
  return (await metas(store, prefix, after)).map(({ key }) => key);
}

async function* stream(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}

function text(content: Uint8Array): string {
  return new TextDecoder().decode(content);
}

/** Bytes that differ from place to place, so that parts in the wrong order show. */
function pattern(length: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let i = 0; i < words.length; i++) words[i] = Math.imul(i, 2_654_435_761);
  return new Uint8Array(words.buffer, 0, length);
}
