import { equalBytes, powerOfTwo } from '../parquet/flat/byte-text.js';
import type { PathSpans } from './path-index.js';

/** A path to look for, with the hash of its bytes. */
export interface PathKey {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly length: number;
  readonly hash: number;
}

/** Bytes of a path that its signature takes, evenly spread. */
const SAMPLES = 8;

/**
 * Finds a few paths among very many without an index: by length, then by a signature of a few bytes, then byte by byte. Calls `onRow` with the key's position and
 * the row. A tenth of what building an index costs, so it is the way for the first few looks.
 */
export function scanPaths(
  spans: PathSpans,
  keys: readonly PathKey[],
  onRow: (key: number, row: number) => void,
): void {
  const { count, values, places } = spans;
  const { slab, starts, lengths } = values;
  let longest = 0;
  for (const key of keys) longest = Math.max(longest, key.length);
  const wanted = new Uint8Array(longest + 1);
  const table = new Int32Array(powerOfTwo(keys.length * 4));
  const mask = table.length - 1;
  const signatures = new Int32Array(keys.length);
  keys.forEach((key, index) => {
    wanted[key.length] = 1;
    const signature = signatureOf(key.bytes, key.start, key.length);
    signatures[index] = signature;
    let slot = signature & mask;
    while (table[slot] !== 0) slot = (slot + 1) & mask;
    table[slot] = index + 1;
  });
  for (let row = 0; row < count; row++) {
    const place = places === undefined ? row : (places[row] as number);
    const length = lengths[place] as number;
    if (length > longest || wanted[length] === 0) continue;
    const start = starts[place] as number;
    const signature = signatureOf(slab, start, length);
    for (let slot = signature & mask; table[slot] !== 0; slot = (slot + 1) & mask) {
      const index = (table[slot] as number) - 1;
      if (signatures[index] !== signature) continue;
      const key = keys[index] as PathKey;
      if (key.length === length && equalBytes(key.bytes, key.start, slab, start, length)) onRow(index, row);
    }
  }
}

function signatureOf(bytes: Uint8Array, start: number, length: number): number {
  let signature = length;
  const step = length / SAMPLES;
  for (let i = 0, at = start + step / 2; i < SAMPLES; i++, at += step)
    signature = Math.imul(signature ^ (bytes[at | 0] as number), 0x01000193);
  return signature ^ (signature >>> 15);
}
