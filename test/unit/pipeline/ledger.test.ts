import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CommittedNote } from '../../../src/pipeline/facts.js';
import { appIdOf, entryOf, Ledger, parseAppId, placesIn, readLedger } from '../../../src/pipeline/ledger.js';
import { RollUp } from '../../../src/pipeline/roll-up.js';

const FIRST = Date.parse('0001-01-02T00:00:00Z');
const LAST = Date.parse('9999-12-30T00:00:00Z');
const seconds = fc.integer({ min: FIRST / 1000, max: LAST / 1000 });
const spans = fc.uniqueArray(
  fc.tuple(seconds, fc.integer({ min: 1, max: 10 ** 7 })).map(([start, length]) => ({
    startMs: start * 1000,
    endMs: Math.min(start + length, LAST / 1000 + 86_400) * 1000,
  })),
  { selector: ({ startMs, endMs }) => `${startMs}/${endMs}`, maxLength: 20 },
);
const byTime = <T extends { startMs: number; endMs: number }>(all: readonly T[]): T[] =>
  [...all].sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs);

describe('the ledger', () => {
  test('has the entries of its pipeline in the order of time, whatever else the log holds', () => {
    fc.assert(
      fc.property(spans, fc.string({ unit: 'grapheme', minLength: 1 }), (all, name) => {
        const txns = new Map(
          all.map((span, i) => {
            const appId = appIdOf(name, span);
            return [appId, { appId, version: i + 1, ...(i % 2 ? { lastUpdated: i } : {}) }];
          }),
        );
        for (const other of [`${name}x`, 'spark'])
          for (const span of all) txns.set(appIdOf(other, span), { appId: '', version: 9 });
        const ledger = readLedger({ txns }, name);
        const expected = all.map((span, i) => ({
          ...span,
          attempt: i + 1,
          lastUpdated: i % 2 ? i : undefined,
        }));
        expect([...ledger]).toEqual(byTime(expected));
        for (const entry of expected) expect(entryOf({ txns }, name, entry)).toEqual(entry);
        expect([...Ledger.of(expected)]).toEqual([...ledger]);
      }),
    );
  });

  test('reads instants in their one spelling alone', () => {
    const of = (start: string, end = '2024-03-01T00:00:00Z') => parseAppId(`intervale/1/p/${start}/${end}`);
    expect(of('2024-02-29T23:59:59Z')).toMatchObject({ startMs: Date.parse('2024-02-29T23:59:59Z') });
    for (const start of [
      '2023-02-29T00:00:00Z',
      '2024-02-30T00:00:00Z',
      '2024-13-01T00:00:00Z',
      '2024-00-01T00:00:00Z',
      '2024-01-00T00:00:00Z',
      '2024-01-01T24:00:00Z',
      '2024-01-01T00:60:00Z',
      '2024-01-01T00:00:60Z',
      '2024-01-01 00:00:00Z',
      '2024-01-01T00:00:00.0Z',
      '2024-01-0aT00:00:00Z',
      '20x4-01-01T00:00:00Z',
      '2024-03-01T00:00:00Z',
      '',
    ])
      expect(of(start)).toBeUndefined();
    expect(of('2024-02-29T23:59:59Z', '2024-03-01T00:00:00Z/')).toBeUndefined();
  });

  test('finds each wanted span, and no other', () => {
    fc.assert(
      fc.property(spans, spans, (some, others) => {
        const columns = (all: readonly { startMs: number; endMs: number }[]) => ({
          starts: byTime(all).map(({ startMs }) => startMs),
          ends: byTime(all).map(({ endMs }) => endMs),
        });
        const wanted = byTime([...others, ...some.filter((_, i) => i % 2 === 0)]);
        const places = placesIn(columns(some), columns(wanted));
        const key = ({ startMs, endMs }: { startMs: number; endMs: number }) => `${startMs}/${endMs}`;
        const keys = byTime(some).map(key);
        expect([...places]).toEqual(wanted.map((span) => keys.indexOf(key(span))));
      }),
    );
  });
});

function note(hour: number, attempt = 1, mode: CommittedNote['mode'] = 'replace'): CommittedNote {
  const [start, end] = [hour, hour + 1].map((at) => `2024-01-01T${String(at).padStart(2, '0')}:00:00Z`);
  return {
    status: 'committed',
    version: hour,
    pipeline: 'p',
    start: start!,
    end: end!,
    label: 'ä',
    attempt,
    runId: `run ${hour}`,
    mode,
    rows: hour * 10,
    bytes: 1,
    digest: '0',
    inputs: [],
    codeVersion: null,
    startedAt: 1,
    durationMs: 2,
  };
}

describe('a roll-up', () => {
  const bytesOf = (pieces: readonly Uint8Array[]): Uint8Array => Buffer.concat(pieces);
  const none = RollUp.of(new Uint8Array(0));

  test('gives back the notes in the order of time, and those that are renewed', () => {
    const first = RollUp.of(bytesOf(none.bytesWith([note(5), note(2, 3, 'undo'), note(7)], () => true)));
    expect(Array.from(first.starts.keys(), (at) => first.note(at))).toEqual([
      note(2, 3, 'undo'),
      note(5),
      note(7),
    ]);
    expect([first.attempt(0), first.rows(1), first.isUndo(0), first.isUndo(1)]).toEqual([3, 50, true, false]);
    const second = RollUp.of(bytesOf(first.bytesWith([note(2, 4), note(6)], (at) => at !== 0)));
    expect(Array.from(second.starts.keys(), (at) => second.note(at))).toEqual([
      note(2, 4),
      note(5),
      note(6),
      note(7),
    ]);
    expect([second.isUndo(0), second.size]).toEqual([false, 4]);
  });

  test('is as good as lost where it is torn', () => {
    const bytes = bytesOf(none.bytesWith([note(1), note(2)], () => true));
    for (let length = 0; length < bytes.length; length += 7)
      expect(RollUp.of(bytes.subarray(0, length)).size).toBe(0);
    expect(RollUp.of(Buffer.from('[]\n')).size).toBe(0);
    expect(RollUp.of(Buffer.from('null\n')).size).toBe(0);
  });
});
