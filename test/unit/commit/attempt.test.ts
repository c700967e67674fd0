import { describe, expect, test } from 'vitest';
import { attemptCommit } from '../../../src/commit/attempt.js';
import { TableError } from '../../../src/errors.js';
import { commitPath } from '../../../src/log/paths.js';
import type { PutIfAbsentResult, Store } from '../../../src/store/store.js';
import { FakeClock, fakeContext } from '../../support/fake-context.js';

const OURS = commitBytes('ours');
const THEIRS = commitBytes('theirs');

function commitBytes(txnId: string): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ commitInfo: { operation: 'WRITE', txnId } })}\n`);
}

type Answer = PutIfAbsentResult | Error;
type Held = Uint8Array | 'missing' | 'unreadable';

/** A store that answers puts and read-backs from two scripts; the last entry of each stays. */
function scripted(puts: Answer[], reads: Held[]): Store & { puts: number; reads: number } {
  const next = <T>(script: T[]): T => (script.length > 1 ? script.shift()! : script[0]!);
  const store = {
    puts: 0,
    reads: 0,
    async putIfAbsent(): Promise<PutIfAbsentResult> {
      store.puts++;
      const answer = next(puts);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    async get(): Promise<Uint8Array> {
      store.reads++;
      const held = next(reads);
      if (held === 'missing') throw new TableError('NOT_FOUND', 'no such object');
      if (held === 'unreadable') throw new TableError('STORE_FAILED', 'no answer');
      return held;
    },
  };
  return store as unknown as Store & { puts: number; reads: number };
}

const CREATED: Answer = { outcome: 'created' };
const EXISTS: Answer = { outcome: 'exists' };
const AMBIGUOUS: Answer = { outcome: 'ambiguous', cause: new Error('connection dropped') };

function attempt(store: Store, signal?: AbortSignal) {
  const ctx = fakeContext(new FakeClock());
  const deadline = ctx.clock.monotonic() + 60_000;
  return attemptCommit(store, ctx, { version: 7, bytes: OURS, txnId: 'ours', deadline, signal });
}

describe('an attempt to commit', () => {
  test.each<[string, Answer[], Held[], string]>([
    ['a created version is committed', [CREATED], ['missing'], 'committed'],
    ['a version that holds another commit is a conflict', [EXISTS], [THEIRS], 'conflict'],
    ['a version that exists and holds our commit is committed: a lost reply', [EXISTS], [OURS], 'committed'],
    [
      'a version that exists and holds bytes of no commit is a conflict',
      [EXISTS],
      [new Uint8Array([123])],
      'conflict',
    ],
    ['a lost reply whose put landed is committed', [AMBIGUOUS], [OURS], 'committed'],
    ['a lost reply whose put was beaten is a conflict', [AMBIGUOUS], [THEIRS], 'conflict'],
    ['a lost reply whose put did not land is sent again', [AMBIGUOUS, CREATED], ['missing'], 'committed'],
    ['a put that lands after its timeout is committed', [AMBIGUOUS, EXISTS], ['missing', OURS], 'committed'],
    ['a version that exists but cannot be found was cleaned up', [EXISTS], ['missing'], 'cleaned'],
    ['a version that cannot be read is unknown', [AMBIGUOUS], ['unreadable'], 'unknown'],
    ['a version that never shows is unknown', [AMBIGUOUS], ['missing'], 'unknown'],
    [
      'a refusal after an ambiguous try proves nothing',
      [AMBIGUOUS, new TableError('PERMISSION_DENIED', 'no')],
      ['missing'],
      'unknown',
    ],
  ])('%s', async (_, puts, reads, outcome) => {
    expect((await attempt(scripted([...puts], [...reads]))).outcome).toBe(outcome);
  });

  test('a definite refusal of the first try is thrown', async () => {
    const refused = new TableError('PERMISSION_DENIED', 'no');
    await expect(attempt(scripted([refused], ['missing']))).rejects.toBe(refused);
  });

  test('the same version is put again, and nothing is read, when the first put is created', async () => {
    const store = scripted([CREATED], ['missing']);
    await attempt(store);
    expect([store.puts, store.reads]).toEqual([1, 0]);
  });

  test('an abort during an ambiguous put does not stop the search for what became of it', async () => {
    const stop = new AbortController();
    stop.abort();
    const store = scripted([AMBIGUOUS], [OURS]);
    expect((await attempt(store, stop.signal)).outcome).toBe('committed');
  });

  test('the key is the version with twenty digits', () => {
    expect(commitPath(7)).toBe('_delta_log/00000000000000000007.json');
  });
});
