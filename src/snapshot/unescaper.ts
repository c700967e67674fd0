import { decodeUtf8, encodeUtf8 } from '../parquet/flat/byte-text.js';
import type { StatsSpan } from './json-statistics.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Resolves the escapes of JSON strings into one buffer that is used again for each. */
export class Unescaper {
  #buffer = new Uint8Array(1024);

  /** The text of the string's content [start, end), valid until the next call; undefined for escapes that JSON does not have. */
  resolve(bytes: Uint8Array, start: number, end: number): StatsSpan | undefined {
    if (this.#buffer.length < end - start) this.#buffer = new Uint8Array((end - start) * 2);
    const out = this.#buffer;
    let to = 0;
    for (let i = start; i < end; i++) {
      const byte = bytes[i] as number;
      if (byte !== BACKSLASH) {
        out[to++] = byte;
        continue;
      }
      const escaped = bytes[++i];
      if (escaped === QUOTE || escaped === BACKSLASH || escaped === 0x2f) out[to++] = escaped;
      else return this.#slow(bytes, start, end);
    }
    return { bytes: out, start: 0, end: to };
  }

  #slow(bytes: Uint8Array, start: number, end: number): StatsSpan | undefined {
    try {
      const text = encodeUtf8(JSON.parse(`"${decodeUtf8(bytes, start, end)}"`) as string);
      return { bytes: text, start: 0, end: text.length };
    } catch {
      return undefined;
    }
  }
}
