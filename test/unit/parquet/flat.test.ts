import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as arrow from 'apache-arrow';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CODEC } from '../../../src/parquet/flat/codec.js';
import { type FlatColumn, isPresent, textAt } from '../../../src/parquet/flat/column.js';
import { FlatFault } from '../../../src/parquet/flat/fault.js';
import type { Leaf } from '../../../src/parquet/flat/footer.js';
import { unlz4 } from '../../../src/parquet/flat/lz4.js';
import { bytesSource, readFlatColumns, readFooter } from '../../../src/parquet/flat/read.js';
import { decodeHybrid } from '../../../src/parquet/flat/rle.js';
import { unsnappy } from '../../../src/parquet/flat/snappy.js';
import { ByteSink } from '../../../src/parquet/flat/write/byte-sink.js';
import { assembleFile } from '../../../src/parquet/flat/write/file.js';
import { encodeHybrid } from '../../../src/parquet/flat/write/hybrid.js';
import { LeafWriter } from '../../../src/parquet/flat/write/leaf-writer.js';
import { leaf, leavesOf, STRING, type WriteNode } from '../../../src/parquet/flat/write/schema.js';
import { snap } from '../../../src/parquet/flat/write/snappy.js';
import { loadParquetWasm } from '../../../src/parquet/wasm.js';
import { referenceDir } from '../../support/reference-dir.js';

/** The values of a column without repetition by row, null where there is none. */
function valuesOf(column: FlatColumn): unknown[] {
  const out: unknown[] = [];
  let dense = 0;
  for (let entry = 0; entry < column.entries; entry++) {
    if (!isPresent(column, entry)) {
      out.push(null);
      continue;
    }
    const place = column.dense ? dense++ : entry;
    const { values } = column;
    if (values.kind === 'bytes' || values.kind === 'codes') out.push(textAt(column, place));
    else if (values.kind === 'fixed')
      out.push(values.slab.slice(place * values.width, (place + 1) * values.width));
    else out.push(values.values[place]);
  }
  return out;
}

async function readAll(bytes: Uint8Array, layout: 'entries' | 'dense'): Promise<Map<string, FlatColumn[]>> {
  const source = bytesSource(bytes);
  const footer = await readFooter(source);
  const groups = await readFlatColumns(source, footer, footer.leaves, { layout });
  return new Map(
    footer.leaves.map((own: Leaf, index) => [
      own.path.join('.'),
      groups.map((columns) => columns[index] as FlatColumn),
    ]),
  );
}

describe('the pieces', () => {
  it('snappy unpacks what it packed', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .array(fc.constantFrom('{"numRecords":', 'part-0000', '7', '"}', 'x'), { maxLength: 400 })
        .map((parts) => new TextEncoder().encode(parts.join(''))),
      fc.nat(200_000).map((length) => Uint8Array.from({ length }, (_, i) => (i * i) >>> 7)),
    );
    fc.assert(
      fc.property(bytes, (input) => {
        const out = new Uint8Array(input.length + 6);
        unsnappy(snap(input), out, 3, 3 + input.length);
        expect(Buffer.from(out.subarray(3, 3 + input.length)).equals(Buffer.from(input))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('the hybrid of runs and packed values gives back what it was given', () => {
    const runs = fc.array(fc.tuple(fc.nat(0xffffff), fc.integer({ min: 1, max: 40 })), { maxLength: 30 });
    fc.assert(
      fc.property(runs, fc.integer({ min: 1, max: 24 }), (parts, width) => {
        const values = Int32Array.from(
          parts.flatMap(([value, count]) => Array<number>(count).fill(value & ((1 << width) - 1))),
        );
        const sink = new ByteSink();
        encodeHybrid(sink, values, values.length, width);
        const out = new Int32Array(values.length);
        decodeHybrid(sink.view(), 0, sink.length, width, out, 0, values.length);
        expect(out).toEqual(values);
      }),
    );
  });

  it.each([
    ['snappy', unsnappy],
    ['lz4', unlz4],
  ])('%s never reads or writes outside its bounds', (_, unpack) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(400), (input, length) => {
        const out = new Uint8Array(length + 2).fill(9);
        try {
          unpack(input, out, 1, 1 + length);
        } catch (error) {
          expect(error).toBeInstanceOf(FlatFault);
        }
        expect([out[0], out[length + 1]]).toEqual([9, 9]);
      }),
      { numRuns: 2000 },
    );
  });
});

const NODES: readonly WriteNode[] = [
  leaf('text', STRING),
  leaf('coded', STRING),
  leaf('number', { kind: 'int64' }),
  leaf('flag', { kind: 'boolean' }),
  leaf('real', { kind: 'double' }),
];

interface Row {
  readonly text: string | null;
  readonly coded: string | null;
  readonly number: bigint | null;
  readonly flag: boolean | null;
  readonly real: number | null;
}

const row = fc.record({
  text: fc.option(fc.string({ unit: 'grapheme', maxLength: 20 })),
  coded: fc.option(fc.constantFrom('a', 'bb', 'ccc', '')),
  number: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  flag: fc.option(fc.boolean()),
  real: fc.option(fc.double({ noNaN: true })),
});

async function write(rows: readonly Row[], codec: number): Promise<Uint8Array> {
  const leaves = leavesOf(NODES);
  const writers = leaves.map(
    ({ maxDefinition, maxRepetition, path }) =>
      new LeafWriter({ maxDefinition, maxRepetition, codec, dictionary: path[0] === 'coded' }),
  );
  for (const item of rows) {
    NODES.forEach(({ name }, index) => {
      const writer = writers[index] as LeafWriter;
      const value = item[name as keyof Row];
      writer.entry(0, value === null ? 0 : 1);
      if (typeof value === 'string') writer.text(value);
      else if (typeof value === 'bigint') writer.int64(value);
      else if (typeof value === 'boolean') writer.boolean(value);
      else if (typeof value === 'number') writer.double(value);
    });
  }
  const chunks = await Promise.all(writers.map((writer) => writer.finish()));
  return Buffer.concat(
    assembleFile(NODES, leaves, [{ rows: rows.length, chunks, codecs: leaves.map(() => codec) }], 'test')
      .pieces,
  );
}

describe('files of our own', () => {
  it.each([
    ['uncompressed', CODEC.uncompressed],
    ['snappy', CODEC.snappy],
    ['gzip', CODEC.gzip],
  ])('come back as they were written, %s', async (_, codec) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 60 }),
        fc.constantFrom('entries' as const, 'dense' as const),
        async (rows, layout) => {
          const columns = await readAll(await write(rows, codec), layout);
          for (const { name } of NODES) {
            const found = (columns.get(name) as FlatColumn[]).flatMap(valuesOf);
            const flags =
              name === 'flag' ? found.map((value) => (value === null ? null : value === 1)) : found;
            expect(flags).toEqual(rows.map((item) => item[name as keyof Row]));
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('are split into pages that stay in step with their rows', async () => {
    const rows: Row[] = Array.from({ length: 300_000 }, (_, i) => ({
      text: i % 7 === 0 ? null : `value ${i}`,
      coded: String(i % 70_000),
      number: BigInt(i),
      flag: i % 3 === 0,
      real: null,
    }));
    const columns = await readAll(await write(rows, CODEC.snappy), 'dense');
    const text = valuesOf((columns.get('text') as FlatColumn[])[0] as FlatColumn);
    const coded = valuesOf((columns.get('coded') as FlatColumn[])[0] as FlatColumn);
    expect(text.every((value, i) => value === (rows[i] as Row).text)).toBe(true);
    expect(coded.every((value, i) => value === (rows[i] as Row).coded)).toBe(true);
    expect((columns.get('real') as FlatColumn[])[0]?.present).toBe(0);
  });
});

describe('files of the general engine', () => {
  const table = arrow.tableFromArrays({
    text: Array.from({ length: 5000 }, (_, i) => (i % 5 === 0 ? null : `text ${i % 50}`)),
    long: BigInt64Array.from({ length: 5000 }, (_, i) => BigInt(i) * 3_000_000_000n - 7n),
    int: Int32Array.from({ length: 5000 }, (_, i) => i % 17),
    real: Float64Array.from({ length: 5000 }, (_, i) => i / 3),
    small: Float32Array.from({ length: 5000 }, (_, i) => i / 4),
  });
  const expected = (name: 'text' | 'long' | 'int' | 'real' | 'small'): unknown[] =>
    Array.from(table.getChild(name) ?? []);

  it.each(['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD', 'LZ4_RAW'] as const)(
    'are read, %s, with and without dictionaries, in pages of either version',
    async (codec) => {
      const engine = await loadParquetWasm();
      for (const dictionary of [true, false]) {
        for (const version of [engine.WriterVersion.V1, engine.WriterVersion.V2]) {
          const properties = new engine.WriterPropertiesBuilder()
            .setCompression(engine.Compression[codec])
            .setDictionaryEnabled(dictionary)
            .setWriterVersion(version)
            .setMaxRowGroupSize(2000)
            .build();
          const bytes = engine.writeParquet(
            engine.Table.fromIPCStream(arrow.tableToIPC(table, 'stream')),
            properties,
          );
          const columns = await readAll(bytes, 'entries').catch((error: unknown) => error);
          if (columns instanceof FlatFault) {
            // What is not decoded here says so, and is left to the general engine.
            expect([columns.reason, dictionary]).toEqual(['unsupported', false]);
            continue;
          }
          for (const name of ['text', 'long', 'int', 'real', 'small'] as const) {
            expect(
              ((columns as Map<string, FlatColumn[]>).get(name) as FlatColumn[]).flatMap(valuesOf),
            ).toEqual(expected(name));
          }
        }
      }
    },
  );
});

const reference = referenceDir();

describe('hostile files', () => {
  it('end in a fault of the decoder, whichever byte lies', async () => {
    const rows: Row[] = Array.from({ length: 50 }, (_, i) => ({
      text: i % 3 === 0 ? null : `value ${i}`,
      coded: String(i % 4),
      number: BigInt(i),
      flag: i % 2 === 0,
      real: i / 2,
    }));
    for (const codec of [CODEC.uncompressed, CODEC.snappy, CODEC.gzip]) {
      const sound = await write(rows, codec);
      for (let at = 0; at < sound.length; at++) {
        for (const value of [0, 0x7f, 0xff]) {
          const bytes = Uint8Array.from(sound);
          bytes[at] = value;
          const result = await readAll(bytes, 'dense').catch((error: unknown) => error);
          if (result instanceof Error)
            expect(result, `byte ${at} = ${value}: ${result.stack}`).toBeInstanceOf(FlatFault);
        }
      }
    }
  });

  it('end in a fault wherever they are cut', async () => {
    const sound = await write([{ text: 'a', coded: 'b', number: 1n, flag: true, real: 1 }], CODEC.snappy);
    for (let length = 0; length < sound.length; length++) {
      await expect(readAll(sound.slice(0, length), 'dense')).rejects.toBeInstanceOf(FlatFault);
    }
  });

  it.skipIf(reference === undefined)('do so when they are checkpoints of other engines, too', async () => {
    const root = join(reference ?? '', 'tables');
    const found: string[] = [];
    for (const name of readdirSync(root)) {
      const checkpoint = readdirSync(join(root, name, '_delta_log')).find((file) =>
        file.endsWith('.checkpoint.parquet'),
      );
      if (checkpoint !== undefined) found.push(join(root, name, '_delta_log', checkpoint));
    }
    let seed = 7;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed % below;
    };
    for (const file of found.filter((_, index) => index % 4 === 0)) {
      const sound = readFileSync(file);
      for (let i = 0; i < 60; i++) {
        const bytes = Uint8Array.from(sound);
        for (let n = 0; n <= i % 4; n++)
          bytes[bytes.length - 1 - random(Math.min(bytes.length, i % 2 === 0 ? 4000 : bytes.length))] =
            random(256);
        const result = await readAll(bytes, 'dense').catch((error: unknown) => error);
        if (result instanceof Error) expect(result, `${file}: ${result.stack}`).toBeInstanceOf(FlatFault);
      }
    }
  });
});
