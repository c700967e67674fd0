import { corrupt } from '../flat/fault.js';
import type { Leaf } from '../flat/footer.js';
import { lengthOfRuns } from '../selection.js';
import type { LeafColumn } from './chunk.js';
import type { Values } from './values.js';

/**
 * The rows of a leaf in `runs`: pairs of the first row and the one after the last, ascending and apart. Throws `FlatFault` where the leaf has another number
 * of rows than `rows`. Works for leaves at any depth, since it is a leaf's levels that say where its rows begin.
 */
export function cutRows(column: LeafColumn, leaf: Leaf, rows: number, runs: Int32Array): LeafColumn {
  const { definitions, repetitions } = column;
  // Where entries, and with them values, of the runs begin and end.
  const entries = repetitions === undefined ? runs : entryRuns(repetitions, rows, runs);
  if (repetitions === undefined && column.entries !== rows) throw miscounted();
  if (runs.length === 2 && runs[0] === 0 && runs[1] === rows) return column;
  const values = definitions === undefined ? entries : valueRuns(definitions, leaf.maxDefinition, entries);
  return {
    entries: lengthOfRuns(entries),
    definitions: definitions && cutBytes(definitions, entries, 1),
    repetitions: repetitions && cutBytes(repetitions, entries, 1),
    values: cutValues(column.values, values),
  };
}

function entryRuns(repetitions: Uint8Array, rows: number, runs: Int32Array): Int32Array {
  const result = new Int32Array(runs.length);
  let row = -1;
  let next = 0;
  for (let entry = 0; entry < repetitions.length; entry++) {
    if (repetitions[entry] !== 0) continue;
    row++;
    while (next < runs.length && runs[next] === row) result[next++] = entry;
  }
  if (row + 1 !== rows || (repetitions.length > 0 && repetitions[0] !== 0)) throw miscounted();
  while (next < runs.length) result[next++] = repetitions.length;
  return result;
}

function valueRuns(definitions: Uint8Array, max: number, entries: Int32Array): Int32Array {
  const result = new Int32Array(entries.length);
  let value = 0;
  let entry = 0;
  for (let i = 0; i < entries.length; i++) {
    for (; entry < entries[i]!; entry++) if (definitions[entry] === max) value++;
    result[i] = value;
  }
  return result;
}

function cutValues(values: Values, runs: Int32Array): Values {
  const count = lengthOfRuns(runs);
  if (values.kind === 'fixed') {
    return { kind: 'fixed', width: values.width, count, bytes: cutBytes(values.bytes, runs, values.width) };
  }
  const offsets = new Int32Array(count + 1);
  const bytes = new Int32Array(runs.length);
  let at = 0;
  let end = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const first = values.offsets[runs[i]!]!;
    const shift = end - first;
    for (let value = runs[i]!; value < runs[i + 1]!; value++)
      offsets[++at] = values.offsets[value + 1]! + shift;
    bytes[i] = first;
    bytes[i + 1] = values.offsets[runs[i + 1]!]!;
    end = offsets[at]!;
  }
  return { kind: 'binary', offsets, count, data: cutBytes(values.data, bytes, 1) };
}

/** Runs of items of `width` bytes, in memory of their own that typed views of any width fit. */
function cutBytes(bytes: Uint8Array, runs: Int32Array, width: number): Uint8Array {
  const cut = new Uint8Array((lengthOfRuns(runs) * width + 7) & ~7);
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    cut.set(bytes.subarray(runs[i]! * width, runs[i + 1]! * width), at);
    at += (runs[i + 1]! - runs[i]!) * width;
  }
  return width === 1 ? cut.subarray(0, at) : cut;
}

function miscounted(): Error {
  return corrupt('a column has another number of rows than its page index or row group says');
}
