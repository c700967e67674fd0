import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { T, type ThriftStruct, type ThriftValue, writeThrift } from '../../encode-thrift.js';
import { CODEC } from '../codec.js';
import { ENCODING } from '../encoding.js';
import { Interner } from '../interner.js';
import { ByteSink } from './byte-sink.js';
import { encodeHybrid } from './hybrid.js';
import { decimalWidth } from './schema.js';
import { snap } from './snappy.js';

export interface LeafOptions {
  readonly maxDefinition: number;
  readonly maxRepetition: number;
  readonly codec: number;
  /** Code byte strings by a dictionary while it stays small. */
  readonly dictionary?: boolean;
}

/** A column chunk, written: its pages side by side, and what the footer says of it. Positions count from the chunk's start. */
export interface WrittenChunk {
  readonly pages: readonly Uint8Array[];
  readonly length: number;
  readonly uncompressed: number;
  readonly values: number;
  readonly encodings: readonly number[];
  readonly dictionaryLength: number;
  /** The footer's `Statistics` of the chunk. */
  readonly statistics?: ThriftStruct;
}

const PAGE_BYTES = 1 << 20;
const PAGE_ENTRIES = 1 << 17;
const MAX_DICTIONARY = 1 << 16;
const compressGzip = promisify(gzip);

interface PageParts {
  readonly body: Uint8Array;
  readonly entries: number;
  readonly encoding: number;
}

/**
 * Takes the entries of one leaf in order and makes its pages as they fill up; compression by gzip runs on the thread pool meanwhile. Levels are those of the
 * format; an entry is a value exactly when its definition level is the maximum.
 */
export class LeafWriter {
  readonly #options: LeafOptions;
  #definition = new Uint8Array(1024);
  #repetition = new Uint8Array(1024);
  #entries = 0;
  readonly #values = new ByteSink();
  #codes = new Int32Array(1024);
  #coded = 0;
  #dictionary: Interner | undefined;
  readonly #dictionaryBytes = new ByteSink();
  #total = 0;
  readonly #pages: Promise<Uint8Array>[] = [];
  #uncompressed = 0;
  readonly #encodings = new Set<number>([ENCODING.rle]);
  #bits = 0;

  constructor(options: LeafOptions) {
    this.#options = options;
    if (options.dictionary) this.#dictionary = new Interner();
  }

  /** Appends `count` entries of one definition level below the maximum, each a row of its own. */
  nulls(count: number, level: number): void {
    for (let rest = count; rest > 0; ) {
      this.#startRow();
      const here = Math.min(rest, PAGE_ENTRIES - this.#entries);
      this.#roomForLevels(here);
      this.#definition.fill(level, this.#entries, this.#entries + here);
      this.#repetition.fill(0, this.#entries, this.#entries + here);
      this.#entries += here;
      rest -= here;
    }
  }

  /** Appends the levels of one entry; where the definition is the maximum, the value must follow by one of the methods below. */
  entry(repetition: number, definition: number): void {
    if (repetition === 0) this.#startRow();
    this.#roomForLevels(1);
    this.#definition[this.#entries] = definition;
    this.#repetition[this.#entries] = repetition;
    this.#entries++;
  }

  bytes(from: Uint8Array, start: number, end: number): void {
    if (this.#dictionary !== undefined) {
      const known = this.#dictionary.values.length;
      const code = this.#dictionary.intern(from, start, end - start);
      if (code === known) {
        this.#dictionaryBytes.int32(end - start);
        this.#dictionaryBytes.copy(from, start, end);
      }
      if (this.#coded === this.#codes.length) {
        const grown = new Int32Array(this.#coded * 2);
        grown.set(this.#codes);
        this.#codes = grown;
      }
      // Code 0 of an interner stands for null.
      this.#codes[this.#coded++] = code - 1;
      return;
    }
    this.#values.int32(end - start);
    this.#values.copy(from, start, end);
  }

  text(value: string): void {
    const bytes = Buffer.from(value, 'utf8');
    this.bytes(bytes, 0, bytes.length);
  }

  int32(value: number): void {
    this.#values.int32(value);
  }

  int64(value: number | bigint): void {
    if (typeof value === 'bigint') this.#values.bigint64(value);
    else this.#values.int64(value);
  }

  double(value: number): void {
    this.#values.double(value);
  }

  float(value: number): void {
    this.#values.float(value);
  }

  /** A decimal's unscaled value in the physical type of its precision: INT32, INT64, or big-endian two's complement of a fixed length. */
  decimal(value: number | bigint, precision: number): void {
    if (precision <= 9) this.int32(Number(value));
    else if (precision <= 18) this.int64(value);
    else this.#fixed(BigInt(value), decimalWidth(precision));
  }

  #fixed(value: bigint, width: number): void {
    for (let i = width - 1; i >= 0; i--) this.#values.byte(Number((value >> BigInt(8 * i)) & 255n));
  }

  boolean(value: boolean): void {
    if (this.#bits % 8 === 0) this.#values.byte(0);
    if (value)
      this.#values.bytes[this.#values.length - 1] =
        (this.#values.bytes[this.#values.length - 1] as number) | (1 << (this.#bits % 8));
    this.#bits++;
  }

  async finish(): Promise<WrittenChunk> {
    if (this.#entries > 0) this.#flush();
    const pages = await Promise.all(this.#pages);
    let dictionaryLength = 0;
    const dictionary = this.#dictionaryPage();
    if (dictionary !== undefined) {
      const page = await dictionary;
      dictionaryLength = page.length;
      pages.unshift(page);
    }
    const length = pages.reduce((sum, page) => sum + page.length, 0);
    return {
      pages,
      length,
      uncompressed: this.#uncompressed,
      values: this.#total,
      encodings: [...this.#encodings].sort((a, b) => a - b),
      dictionaryLength,
    };
  }

  #roomForLevels(more: number): void {
    if (this.#entries + more <= this.#definition.length) return;
    const size = Math.max(this.#definition.length * 2, this.#entries + more);
    const definition = new Uint8Array(size);
    definition.set(this.#definition);
    this.#definition = definition;
    const repetition = new Uint8Array(size);
    repetition.set(this.#repetition);
    this.#repetition = repetition;
  }

  /** Ends the page where it is full; pages begin with a row. */
  #startRow(): void {
    if (this.#entries >= PAGE_ENTRIES || this.#values.length >= PAGE_BYTES) this.#flush();
  }

  #flush(): void {
    const { maxDefinition, maxRepetition } = this.#options;
    const body = new ByteSink(this.#values.length + 1024);
    if (maxRepetition > 0) putLevels(body, this.#repetition, this.#entries, maxRepetition);
    if (maxDefinition > 0) putLevels(body, this.#definition, this.#entries, maxDefinition);
    const coded = this.#dictionary !== undefined;
    if (this.#dictionary !== undefined) {
      const width = Math.max(1, 32 - Math.clz32(Math.max(0, this.#dictionary.values.length - 2)));
      body.byte(width);
      encodeHybrid(body, this.#codes, this.#coded, width);
    } else {
      body.copy(this.#values.bytes, 0, this.#values.length);
    }
    const encoding = coded ? ENCODING.rleDictionary : ENCODING.plain;
    this.#encodings.add(encoding);
    this.#pages.push(this.#page(dataHeader, { body: body.view(), entries: this.#entries, encoding }));
    this.#total += this.#entries;
    this.#entries = 0;
    this.#coded = 0;
    this.#bits = 0;
    this.#values.clear();
    if (
      this.#dictionary !== undefined &&
      (this.#dictionary.values.length > MAX_DICTIONARY || this.#dictionaryBytes.length > PAGE_BYTES)
    )
      this.#dictionary = undefined;
  }

  #dictionaryPage(): Promise<Uint8Array> | undefined {
    if (!this.#encodings.has(ENCODING.rleDictionary)) return undefined;
    this.#encodings.add(ENCODING.plain);
    let entries = 0;
    for (let at = 0; at < this.#dictionaryBytes.length; entries++) {
      at += 4 + new DataView(this.#dictionaryBytes.bytes.buffer).getInt32(at, true);
    }
    return this.#page(dictionaryHeader, {
      body: this.#dictionaryBytes.view(),
      entries,
      encoding: ENCODING.plain,
    });
  }

  async #page(
    header: (page: PageParts, compressed: number) => Uint8Array,
    page: PageParts,
  ): Promise<Uint8Array> {
    const compressed = await compress(this.#options.codec, page.body);
    const head = header(page, compressed.length);
    this.#uncompressed += head.length + page.body.length;
    const out = new Uint8Array(head.length + compressed.length);
    out.set(head);
    out.set(compressed, head.length);
    return out;
  }
}

function putLevels(body: ByteSink, levels: Uint8Array, count: number, maximum: number): void {
  const start = body.length;
  body.int32(0);
  encodeHybrid(body, levels, count, 32 - Math.clz32(maximum));
  new DataView(body.bytes.buffer).setInt32(start, body.length - start - 4, true);
}

function compress(codec: number, body: Uint8Array): Uint8Array | Promise<Uint8Array> {
  if (codec === CODEC.snappy) return snap(body);
  // Level 1: the text of a log is so alike that more effort finds little more.
  if (codec === CODEC.gzip) return compressGzip(body, { level: 1 });
  return body;
}

function field(type: number, value: ThriftValue): { type: number; value: ThriftValue } {
  return { type, value };
}

function pageHeader(
  kind: number,
  page: PageParts,
  compressed: number,
  own: readonly [id: number, header: ThriftStruct],
): Uint8Array {
  return writeThrift(
    new Map([
      [1, field(T.I32, kind)],
      [2, field(T.I32, page.body.length)],
      [3, field(T.I32, compressed)],
      [own[0], field(T.STRUCT, own[1])],
    ]),
  );
}

function dataHeader(page: PageParts, compressed: number): Uint8Array {
  const own: ThriftStruct = new Map([
    [1, field(T.I32, page.entries)],
    [2, field(T.I32, page.encoding)],
    [3, field(T.I32, ENCODING.rle)],
    [4, field(T.I32, ENCODING.rle)],
  ]);
  return pageHeader(0, page, compressed, [5, own]);
}

function dictionaryHeader(page: PageParts, compressed: number): Uint8Array {
  const own: ThriftStruct = new Map([
    [1, field(T.I32, page.entries)],
    [2, field(T.I32, page.encoding)],
  ]);
  return pageHeader(2, page, compressed, [7, own]);
}
