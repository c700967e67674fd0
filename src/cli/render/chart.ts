import type { Paint } from '../terminal.js';
import { countText } from './bytes.js';

export interface Bar {
  readonly label: string;
  readonly value: number;
}

const BLOCKS = [' ', '\u2581', '\u2582', '\u2583', '\u2584', '\u2585', '\u2586', '\u2587', '\u2588'];

/**
 * Lines of a chart of upright bars, from 0 at the bottom to the largest value at the top. Where there are more bars than columns, each column is the mean of
 * its neighbours. `width` and `height` are in characters, `width` the axis included.
 */
export function chartLines(bars: readonly Bar[], width: number, height: number, paint: Paint): string[] {
  if (bars.length === 0) return [];
  const axis = countText(Math.max(...bars.map(({ value }) => Math.round(value)), 0)).length + 1;
  const room = Math.max(1, width - axis - 2);
  const perColumn = Math.ceil(bars.length / room);
  const values: number[] = [];
  for (let start = 0; start < bars.length; start += perColumn) {
    const some = bars.slice(start, start + perColumn);
    values.push(some.reduce((sum, { value }) => sum + value, 0) / some.length);
  }
  const repeat = Math.max(1, Math.min(3, Math.floor(room / values.length)));
  const top = Math.max(...values, 1);
  const lines = Array.from({ length: height }, (_, i) => {
    const level = height - 1 - i;
    const cells = values.map((value) => {
      const eighths = Math.round((value / top) * height * 8) - level * 8;
      // A value above 0 always shows.
      const shown = level === 0 && value > 0 ? Math.max(1, eighths) : eighths;
      return BLOCKS[Math.max(0, Math.min(8, shown))]!.repeat(repeat);
    });
    const tick = i === 0 ? countText(Math.round(top)) : level === 0 ? '0' : '';
    return `${tick.padStart(axis)} \u2502${paint('cyan', cells.join('')).trimEnd()}`;
  });
  const span = values.length * repeat;
  const first = bars[0]!.label;
  const last = bars.at(-1)!.label;
  const labels =
    bars.length === 1 ? first : first + last.padStart(Math.max(last.length + 1, span - first.length));
  return [...lines, `${' '.repeat(axis)} \u2514${'\u2500'.repeat(span)}`, `${' '.repeat(axis + 2)}${labels}`];
}
