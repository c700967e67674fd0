const MAGIC = 1_681_511_377;
const WITHOUT_RUNS = 12_346;
const WITH_RUNS = 12_347;
const OFFSETS_FROM = 4;
const ARRAY_LIMIT = 4096;
const BITMAP_BYTES = 8192;

/**
 * The set of marked positions below 2^32 in the form of deletion vectors (protocol: Deletion Vector Format; RoaringFormatSpec, 64-bit portable form), magic
 * number included. `flags[i]` is 1 where position i is in the set. Each container takes the smallest of its three forms.
 */
export function serializeRoaring(flags: Uint8Array): Uint8Array {
  const containers = containersOf(flags);
  if (containers.length === 0) return words([MAGIC, 0, 0]);
  const parts = [words([MAGIC, 1, 0, 0]), head(containers)];
  for (const { bytes } of containers) parts.push(bytes);
  return new Uint8Array(Buffer.concat(parts));
}

interface Container {
  readonly key: number;
  readonly cardinality: number;
  readonly isRuns: boolean;
  readonly bytes: Uint8Array;
}

function containersOf(flags: Uint8Array): Container[] {
  const containers: Container[] = [];
  for (let base = 0; base < flags.length; base += 65_536) {
    const values: number[] = [];
    const runs: number[] = [];
    const end = Math.min(flags.length, base + 65_536);
    for (let i = flags.indexOf(1, base); i >= 0 && i < end; i++) {
      if (flags[i] !== 1) {
        i = flags.indexOf(1, i);
        if (i < 0 || i >= end) break;
      }
      const value = i - base;
      const last = runs.length - 1;
      if (last > 0 && runs[last - 1]! + runs[last]! + 1 === value) runs[last]!++;
      else runs.push(value, 0);
      values.push(value);
    }
    if (values.length === 0) continue;
    const plain = Math.min(values.length * 2, BITMAP_BYTES);
    const isRuns = 2 + runs.length * 2 < plain;
    const bytes = isRuns
      ? shorts([runs.length / 2, ...runs])
      : values.length <= ARRAY_LIMIT
        ? shorts(values)
        : bitmap(values);
    containers.push({ key: base >>> 16, cardinality: values.length, isRuns, bytes });
  }
  return containers;
}

function head(containers: readonly Container[]): Uint8Array {
  const hasRuns = containers.some(({ isRuns }) => isRuns);
  const count = containers.length;
  const runFlags = new Uint8Array(hasRuns ? (count + 7) >> 3 : 0);
  containers.forEach(({ isRuns }, i) => {
    if (isRuns) runFlags[i >> 3]! |= 1 << (i & 7);
  });
  const cookie = hasRuns ? words([(WITH_RUNS | ((count - 1) << 16)) >>> 0]) : words([WITHOUT_RUNS, count]);
  const keys = shorts(containers.flatMap(({ key, cardinality }) => [key, cardinality - 1]));
  const parts = [cookie, runFlags, keys];
  if (!hasRuns || count >= OFFSETS_FROM) {
    let offset = cookie.length + runFlags.length + keys.length + count * 4;
    const offsets = containers.map(({ bytes }) => {
      const at = offset;
      offset += bytes.length;
      return at;
    });
    parts.push(words(offsets));
  }
  return new Uint8Array(Buffer.concat(parts));
}

function bitmap(values: readonly number[]): Uint8Array {
  const bits = new Uint8Array(BITMAP_BYTES);
  for (const value of values) bits[value >> 3]! |= 1 << (value & 7);
  return bits;
}

function shorts(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 2);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => {
    view.setUint16(i * 2, value, true);
  });
  return bytes;
}

function words(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => {
    view.setUint32(i * 4, value, true);
  });
  return bytes;
}
