import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ADD_LINE, REMOVE_LINE, scanActionSpans } from '../../../src/log/scan-lines.js';

const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

function lines(text: string): [string, string][] {
  const bytes = new TextEncoder().encode(text);
  const { count, kinds, starts, ends } = scanActionSpans(bytes);
  const nameOf = (kind: number) => (kind === ADD_LINE ? 'add' : kind === REMOVE_LINE ? 'remove' : 'other');
  return Array.from({ length: count }, (_, i) => [
    nameOf(kinds[i]!),
    decode(bytes.subarray(starts[i]!, ends[i]!)),
  ]);
}

describe('scanActionSpans', () => {
  test('tells adds and removes from everything else', () => {
    expect(
      lines('{"add":{"a":1}}\n{"remove":{}}\n{"add":null,"remove":{}}\n{ "add":{}}\n{"adds":{}}\n{"ad'),
    ).toEqual([
      ['add', '{"add":{"a":1}}'],
      ['remove', '{"remove":{}}'],
      ['other', '{"add":null,"remove":{}}'],
      ['other', '{ "add":{}}'],
      ['other', '{"adds":{}}'],
      ['other', '{"ad'],
    ]);
  });

  test('passes over a byte order mark, blank lines and carriage returns', () => {
    expect(lines('\ufeff{"add":{}}\r\n\r\n  \n\t{"remove":{}} \r\n')).toEqual([
      ['add', '{"add":{}}'],
      ['remove', '{"remove":{}}'],
    ]);
  });

  test('finds no line in nothing', () => {
    expect(lines('')).toEqual([]);
    expect(lines('\n\n')).toEqual([]);
  });

  test('finds every line however many there are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('{"add":{}}', '{"remove":{}}', '{}', '', '{"é":1}'), { maxLength: 400 }),
        (wanted) => {
          expect(lines(wanted.join('\n')).map(([, text]) => text)).toEqual(
            wanted.filter((line) => line !== ''),
          );
        },
      ),
    );
  });
});
