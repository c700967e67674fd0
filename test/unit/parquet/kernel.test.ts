import { RecordBatch, Table, tableToIPC } from 'apache-arrow';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ColumnData } from '../../../src/parquet/column/assemble.js';
import { type ReadNode, resolveColumns } from '../../../src/parquet/column/read-tree.js';
import { FlatFault } from '../../../src/parquet/flat/fault.js';
import { readFooter } from '../../../src/parquet/flat/read.js';
import { unsnappy } from '../../../src/parquet/flat/snappy.js';
import { compileRoutines } from '../../../src/parquet/kernel/compile.js';
import { decodeByKernel, isForKernel } from '../../../src/parquet/kernel/decode.js';
import { ensureMemory, kernelBytes, openKernel } from '../../../src/parquet/kernel/engine.js';
import { kernelModule } from '../../../src/parquet/kernel/module.js';
import { decodeInPart, decodeQuickly, isQuick } from '../../../src/parquet/quick.js';
import { type DecodeTask, decodeRowGroup, fetchRowGroup } from '../../../src/parquet/read.js';
import { StoreSource } from '../../../src/parquet/source.js';
import { loadParquetWasm, type ParquetWasm } from '../../../src/parquet/wasm.js';
import { toArrowSchema } from '../../../src/schema/arrow.js';
import { batchFromRows } from '../../../src/schema/rows-in.js';
import type { DataType, StructField, StructType } from '../../../src/schema/types.js';
import { MemoryStore } from '../../../src/store/memory.js';
import { fakeContext } from '../../support/fake-context.js';

const field = (name: string, dataType: DataType): StructField => ({
  name,
  dataType,
  nullable: true,
  metadata: {},
});

/** Types that the kernel decodes, with values of them; the encodings that there are for each beside PLAIN and dictionaries. */
const KINDS: readonly {
  readonly type: DataType;
  readonly value: fc.Arbitrary<unknown>;
  readonly encodings: readonly (keyof typeof ParquetWasm.Encoding)[];
}[] = [
  {
    type: { type: 'integer' },
    value: fc.oneof(fc.integer(), fc.nat(3)),
    encodings: ['DELTA_BINARY_PACKED', 'BYTE_STREAM_SPLIT'],
  },
  { type: { type: 'short' }, value: fc.integer({ min: -32768, max: 32767 }), encodings: [] },
  { type: { type: 'byte' }, value: fc.integer({ min: -128, max: 127 }), encodings: ['DELTA_BINARY_PACKED'] },
  {
    type: { type: 'long' },
    value: fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: 0n, max: 9n })),
    encodings: ['DELTA_BINARY_PACKED', 'BYTE_STREAM_SPLIT'],
  },
  { type: { type: 'double' }, value: fc.double(), encodings: ['BYTE_STREAM_SPLIT'] },
  { type: { type: 'float' }, value: fc.float(), encodings: [] },
  { type: { type: 'boolean' }, value: fc.boolean(), encodings: ['RLE'] },
  {
    type: { type: 'string' },
    value: fc.oneof(fc.string({ maxLength: 60 }), fc.constantFrom('', 'prefix', 'prefix of more')),
    encodings: ['DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY'],
  },
  { type: { type: 'binary' }, value: fc.uint8Array({ maxLength: 40 }), encodings: [] },
  {
    type: { type: 'decimal', precision: 9, scale: 2 },
    value: fc.integer({ min: -999_999, max: 999_999 }).map(String),
    encodings: [],
  },
  { type: { type: 'timestamp' }, value: fc.bigInt({ min: -(10n ** 16n), max: 10n ** 16n }), encodings: [] },
];

const columnOf = fc.constantFrom(...KINDS).chain(({ type, value, encodings }) =>
  fc.record({
    type: fc.constant(type),
    encoding: fc.constantFrom('PLAIN' as const, ...encodings),
    isDictionary: fc.boolean(),
    /** Values come in runs and repeat, so that dictionaries and runs are written. */
    values: fc.array(fc.tuple(fc.option(value, { freq: 3 }), fc.integer({ min: 1, max: 40 })), {
      minLength: 1,
      maxLength: 30,
    }),
  }),
);

const files = fc.record({
  columns: fc.array(columnOf, { minLength: 1, maxLength: 4 }),
  rows: fc.integer({ min: 1, max: 400 }),
  rowsPerGroup: fc.constantFrom(64, 100, 1 << 20),
  pageBytes: fc.constantFrom(40, 300, 1 << 20),
  isVersion2: fc.boolean(),
  codec: fc.constantFrom('SNAPPY' as const, 'UNCOMPRESSED' as const, 'GZIP' as const, 'LZ4_RAW' as const),
});
type FileRecipe = typeof files extends fc.Arbitrary<infer T> ? T : never;

async function fileOf(recipe: FileRecipe): Promise<{ bytes: Uint8Array; schema: StructType }> {
  const engine = await loadParquetWasm();
  const schema: StructType = {
    type: 'struct',
    fields: recipe.columns.map(({ type }, i) => field(`c${i}`, type)),
  };
  const cells = recipe.columns.map(({ values }) => {
    const all = values.flatMap(([value, run]) => Array.from({ length: run }, () => value));
    return Array.from({ length: recipe.rows }, (_, row) => all[row % all.length]);
  });
  const rows = Array.from({ length: recipe.rows }, (_, row) =>
    Object.fromEntries(cells.map((column, i) => [`c${i}`, column[row]])),
  );
  const arrow = toArrowSchema(schema);
  const batch = batchFromRows(rows, schema);
  let builder = new engine.WriterPropertiesBuilder()
    .setWriteBatchSize(7)
    .setDataPageSizeLimit(recipe.pageBytes)
    .setWriterVersion(recipe.isVersion2 ? engine.WriterVersion.V2 : engine.WriterVersion.V1)
    .setMaxRowGroupSize(recipe.rowsPerGroup)
    .setCompression(engine.Compression[recipe.codec]);
  recipe.columns.forEach(({ encoding, isDictionary }, i) => {
    builder = builder
      .setColumnDictionaryEnabled(`c${i}`, isDictionary)
      .setColumnEncoding(`c${i}`, engine.Encoding[encoding]);
  });
  const stream = tableToIPC(new Table(arrow, [new RecordBatch(arrow, batch.data)]), 'stream');
  return { bytes: engine.writeParquet(engine.Table.fromIPCStream(stream), builder.build()), schema };
}

async function tasksOf(bytes: Uint8Array, schema: StructType): Promise<DecodeTask[]> {
  const store = new MemoryStore(fakeContext());
  await store.put('f', bytes);
  const source = new StoreSource(store, 'f', bytes.length, { wholeBelow: Number.POSITIVE_INFINITY });
  const footer = await readFooter(source);
  const nodes = resolveColumns(footer.root, schema.fields, 'none');
  return Promise.all(footer.rowGroups.map((_, group) => fetchRowGroup(source, footer, group, nodes)));
}

/** Columns as plain data that can be compared, and that outlives the memory they stand in. */
function settled(columns: readonly ColumnData[]): unknown[] {
  return columns.map(({ length, nullCount, validity, values, offsets, children }) => ({
    length,
    nullCount,
    validity: validity && [...validity],
    values: values && Buffer.from(values).toString('hex'),
    offsets: offsets && [...offsets],
    children: children && settled(children),
  }));
}

/** What the exact decoder gives, or undefined where it refuses. */
function exactly(task: DecodeTask): unknown[] | undefined {
  try {
    return settled(decodeRowGroup(task));
  } catch (error) {
    if (error instanceof FlatFault || error instanceof RangeError) return undefined;
    throw error;
  }
}

describe('decoding by the kernel', () => {
  it('gives the bytes that the exact decoder gives: any types, nulls, encodings, pages, codecs', async () => {
    await fc.assert(
      fc.asyncProperty(files, async (recipe) => {
        const { bytes, schema } = await fileOf(recipe);
        for (const task of await tasksOf(bytes, schema)) {
          expect(task.nodes.every((node) => isForKernel(node, task))).toBe(true);
          const found = decodeByKernel([task], task.nodes);
          expect(found && settled(found)).toEqual(exactly(task));
        }
      }),
      { numRuns: 120 },
    );
  });

  it('joins row groups as if they had been one', async () => {
    await fc.assert(
      fc.asyncProperty(files, async (recipe) => {
        const parts = await fileOf({ ...recipe, rowsPerGroup: 64 });
        const whole = await fileOf({ ...recipe, rowsPerGroup: 1 << 20 });
        const tasks = await tasksOf(parts.bytes, parts.schema);
        const [one] = await tasksOf(whole.bytes, whole.schema);
        const taken: unknown[] = [];
        expect(decodeQuickly(tasks, (columns, from, to) => taken.push([from, to, settled(columns)]))).toBe(
          true,
        );
        expect(taken).toEqual([[0, tasks.length, exactly(one!)]]);
      }),
      { numRuns: 60 },
    );
  });

  it('never gives of changed bytes what the exact decoder does not give', async () => {
    const changes = fc.array(fc.tuple(fc.nat(1 << 16), fc.nat(255)), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(files, changes, async (recipe, edits) => {
        const { bytes, schema } = await fileOf(recipe);
        for (const task of await tasksOf(bytes, schema)) {
          const chunks = task.chunks.map((chunk) => {
            const broken = chunk.bytes.slice();
            for (const [at, value] of edits) broken[at % broken.length] = value;
            return { ...chunk, bytes: broken };
          });
          const found = decodeByKernel([{ ...task, chunks }], task.nodes);
          if (found) expect(settled(found)).toEqual(exactly({ ...task, chunks }));
        }
      }),
      { numRuns: 250 },
    );
  });

  it('refuses deltas of more than 64 bits, as the exact decoder does', async () => {
    const column = {
      type: { type: 'long' as const },
      encoding: 'DELTA_BINARY_PACKED' as const,
      isDictionary: false,
      values: [[-(2n ** 62n) - 1n, 8] as [bigint, number]],
    };
    const { bytes, schema } = await fileOf({
      columns: [column],
      rows: 8,
      rowsPerGroup: 64,
      pageBytes: 1 << 20,
      isVersion2: false,
      codec: 'UNCOMPRESSED',
    });
    const [task] = await tasksOf(bytes, schema);
    const chunk = task!.chunks[0]!;
    const broken = Buffer.from(chunk.bytes);
    // 2^63 + 1, which the zigzag of the value is.
    const first = broken.indexOf('81808080808080808001', 'hex');
    expect(first).toBeGreaterThan(0);
    broken[first + 9] = 2;
    const changed = { ...task!, chunks: [{ ...chunk, bytes: new Uint8Array(broken) }] };
    expect(exactly(changed)).toBeUndefined();
    expect(decodeByKernel([changed], changed.nodes)).toBeUndefined();
  });

  it('leaves what it has no way for to the exact decoder, column by column', async () => {
    const list: DataType = { type: 'array', elementType: { type: 'integer' }, containsNull: true };
    const schema: StructType = {
      type: 'struct',
      fields: [field('a', { type: 'long' }), field('b', list), field('c', { type: 'string' })],
    };
    const rows = Array.from({ length: 50_000 }, (_, i) => ({
      a: BigInt(i) * 7_919n,
      b: i % 3 ? [i, null] : null,
      c: `text ${i * 7_919}`,
    }));
    const engine = await loadParquetWasm();
    const arrow = toArrowSchema(schema);
    const batch = new RecordBatch(arrow, batchFromRows(rows, schema).data);
    const properties = new engine.WriterPropertiesBuilder().setDictionaryEnabled(false).build();
    const stream = engine.Table.fromIPCStream(tableToIPC(new Table(arrow, [batch]), 'stream'));
    const [task] = await tasksOf(engine.writeParquet(stream, properties), schema);
    expect(openKernel()).toBeDefined();
    ensureMemory(1);
    expect(task!.nodes.map((node: ReadNode) => isForKernel(node, task!))).toEqual([true, false, true]);
    expect(isQuick([task!], undefined)).toBe(false);
    const { columns, isLent } = decodeInPart(task!);
    expect(isLent).toBe(true);
    expect(settled(columns)).toEqual(exactly(task!));
  });
});

/** A Snappy block, and what it stands for. */
const snappyBlocks = fc
  .array(
    fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 200 }).map((literal) => ({ literal })),
      fc.record({ size: fc.integer({ min: 1, max: 64 }), distance: fc.nat(400), wide: fc.boolean() }),
    ),
    { maxLength: 40 },
  )
  .map((operations) => {
    const plain: number[] = [];
    const packed: number[] = [];
    for (const operation of operations) {
      if ('literal' in operation) {
        const { length } = operation.literal;
        packed.push(...(length <= 60 ? [(length - 1) << 2] : [60 << 2, length - 1]), ...operation.literal);
        plain.push(...operation.literal);
      } else if (plain.length > 0) {
        const distance = 1 + (operation.distance % plain.length);
        const { size, wide } = operation;
        if (!wide && size >= 4 && size <= 11)
          packed.push(1 | ((size - 4) << 2) | ((distance >> 8) << 5), distance & 255);
        else
          packed.push(
            (wide ? 3 : 2) | ((size - 1) << 2),
            distance & 255,
            distance >> 8,
            ...(wide ? [0, 0] : []),
          );
        for (let i = 0; i < size; i++) plain.push(plain.at(-distance)!);
      }
    }
    const length = plain.length < 128 ? [plain.length] : [(plain.length & 127) | 128, plain.length >> 7];
    return { plain, packed: [...length, ...packed] };
  });

describe('the Snappy routine', () => {
  const run = (packed: readonly number[], length: number): number[] | undefined => {
    const kernel = openKernel()!;
    const [from, to] = [1024, 1 << 19];
    ensureMemory(1 << 20);
    kernelBytes().set(packed, from);
    const isDone = kernel.snappy(from, from + packed.length, to, to + length) === 0;
    return isDone ? [...kernelBytes().subarray(to, to + length)] : undefined;
  };

  it('undoes any literals and copies, however they overlap', () => {
    fc.assert(
      fc.property(snappyBlocks, ({ plain, packed }) => {
        expect(run(packed, plain.length)).toEqual(plain);
      }),
      { numRuns: 300 },
    );
  });

  it('refuses what the decoder in JavaScript refuses', () => {
    const edits = fc.array(fc.tuple(fc.nat(4000), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        snappyBlocks,
        edits,
        fc.integer({ min: -2, max: 2 }),
        ({ plain, packed }, changes, longer) => {
          const broken = Uint8Array.from(packed);
          for (const [at, value] of changes) broken[at % broken.length] = value;
          const out = new Uint8Array(Math.max(0, plain.length + longer));
          let expected: number[] | undefined;
          try {
            unsnappy(broken, out, 0, out.length);
            expected = [...out];
          } catch (error) {
            if (!(error instanceof FlatFault)) throw error;
          }
          expect(run([...broken], out.length)).toEqual(expected);
        },
      ),
      { numRuns: 250 },
    );
  });
});

describe('the kernel language', () => {
  /** Runs routine `main` of a source, with memory that can be looked at. */
  function start(source: string) {
    const { WebAssembly } = globalThis as unknown as {
      WebAssembly: {
        Memory: new (limits: { initial: number }) => { buffer: ArrayBuffer };
        Module: new (bytes: Uint8Array) => object;
        Instance: new (module: object, imports: object) => { exports: { main(...n: number[]): number } };
      };
    };
    const memory = new WebAssembly.Memory({ initial: 1 });
    const module = new WebAssembly.Module(kernelModule(source));
    const { main } = new WebAssembly.Instance(module, { host: { memory } }).exports;
    return { main, bytes: new Uint8Array(memory.buffer) };
  }

  it('binds operators as C does', () => {
    const { main } = start('fn main(a, b) { return a + b * 2 << 1 & 0xff | a == b ^ 1 - -3; }');
    const expected = (a: number, b: number) => (((a + b * 2) << 1) & 0xff) | (Number(a === b) ^ (1 - -3));
    fc.assert(
      fc.property(fc.integer({ min: -99, max: 99 }), fc.integer({ min: -99, max: 99 }), (a, b) => {
        expect(main(a, b)).toBe(expected(a, b));
      }),
    );
  });

  it('decides && and || early, and leaves loops', () => {
    const { main, bytes } = start(`
      fn noted(at) { u8[at] = u8[at] + 1; return 1; }
      fn main(n) {
        let both = n > 3 && noted(0);
        let either = n > 3 || noted(1);
        let i = 0;
        while (1) {
          // The inner loop does not end the outer one.
          while (i < n) { i = i + 1; if (i == 2) { break; } }
          if (i >= n) { break; } else if (i > 100) { return -1; }
        }
        return both * 100 + either * 10 + i;
      }`);
    expect(main(5)).toBe(115);
    expect([bytes[0], bytes[1]]).toEqual([1, 0]);
    expect(main(2)).toBe(12);
    expect([bytes[0], bytes[1]]).toEqual([1, 1]);
  });

  it('tells the line of what it does not know', () => {
    expect(() => compileRoutines('fn a() {\n  let b = c;\n}')).toThrow(/Line 2.*unknown name c/);
    expect(() => compileRoutines('fn a(b: i64) { return b; }')).toThrow(/i64 where i32/);
    expect(() => compileRoutines('fn a(b: i64, c) { let d = b + c; }')).toThrow(/i64 \+ i32/);
    expect(() => compileRoutines('fn a() { b(); }')).toThrow(/unknown routine b/);
    expect(() => compileRoutines('fn a() { let b = 1')).toThrow(/Line 1/);
    expect(() => compileRoutines('fn a() { ? }')).toThrow(/no token/);
  });
});
