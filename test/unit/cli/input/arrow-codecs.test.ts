import { describe, expect, test } from 'vitest';
import { decodeLz4Frame } from '../../../../src/cli/input/arrow-codecs.js';

const HEAD = [0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0x00];
const END = [0, 0, 0, 0];

function frame(...blocks: { raw?: boolean; bytes: number[] }[]): Uint8Array {
  const body = blocks.flatMap(({ raw, bytes }) => [bytes.length, 0, 0, raw ? 0x80 : 0, ...bytes]);
  return Uint8Array.from([...HEAD, ...body, ...END]);
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const codes = (letters: string): number[] => [...Buffer.from(letters)];

describe('LZ4 frames', () => {
  test('copies may overlap themselves', () => {
    // One letter, then 15 of the one before, then a last letter.
    expect(text(decodeLz4Frame(frame({ bytes: [0x1b, ...codes('a'), 1, 0, 0x10, ...codes('b')] })))).toBe(
      `${'a'.repeat(16)}b`,
    );
  });

  test('blocks may copy from those before them, and may be raw', () => {
    const second = { bytes: [0x02, 6, 0, 0x10, ...codes('!')] };
    expect(text(decodeLz4Frame(frame({ raw: true, bytes: codes('abcdef') }, second)))).toBe('abcdefabcdef!');
  });

  test('long lengths take more bytes', () => {
    const letters = 'x'.repeat(300);
    expect(
      text(decodeLz4Frame(frame({ raw: true, bytes: codes('x') }, { bytes: [0x0f, 1, 0, 255, 25] }))),
    ).toBe(letters);
  });

  test.each<[string, Uint8Array]>([
    ['no frame', Uint8Array.from([1, 2, 3, 4, 5, 6, 7])],
    ['without an end', frame({ raw: true, bytes: codes('abc') }).subarray(0, -4)],
    ['longer than its frame', Uint8Array.from([...HEAD, 99, 0, 0, 0, 1])],
    ['outside of its frame', frame({ bytes: [0x10, ...codes('a'), 9, 0, 0] })],
    ['runs past its block', frame({ bytes: [0xf0, 255] })],
  ])('%s is refused', (words, bytes) => {
    expect(() => decodeLz4Frame(bytes)).toThrow(words);
  });
});
