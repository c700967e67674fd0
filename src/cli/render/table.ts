import type { Paint } from '../terminal.js';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

/** Lines of a table whose columns stand under each other, two spaces apart; the titles come first. Widths are those of the cells given. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): string[] {
  const widths = widthsOf(columns, rows);
  return [titleLine(columns, widths, paint), ...rows.map((row) => rowLine(columns, widths, row))];
}

/** How wide each column is. */
export function widthsOf(columns: readonly Column[], rows: readonly (readonly string[])[]): number[] {
  return columns.map(({ title }, i) => {
    let width = widthOf(title);
    for (const row of rows) width = Math.max(width, widthOf(row[i]!));
    return width;
  });
}

/** The titles, as wide as the cells below. */
export function titleLine(columns: readonly Column[], widths: readonly number[], paint: Paint): string {
  const cells = columns.map((column, i) =>
    paint('bold', pad(column.title, widths[i]!, isLast(columns, i) ? 'last' : column.align)),
  );
  return cells.join('  ');
}

/** One row. A wider cell pushes the others to the right. */
export function rowLine(
  columns: readonly Column[],
  widths: readonly number[],
  row: readonly string[],
): string {
  return columns
    .map((column, i) =>
      pad(row[i]!, widths[i]!, isLast(columns, i) && column.align !== 'right' ? 'last' : column.align),
    )
    .join('  ');
}

/** `name  value` lines; values of several lines are indented. */
export function pairLines(
  pairs: readonly (readonly [name: string, value: string | undefined])[],
  paint: Paint,
): string[] {
  const shown = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(
    ([name, value]) =>
      `${paint('bold', name.padEnd(width))}  ${value.replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`,
  );
}

/** Text that stays on its line and in its column: control characters as escapes. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) =>
    JSON.stringify(character)
      .slice(1, -1)
      .replace(/^([\u007f-\u009f\u2028\u2029])$/, escaped),
  );
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function isLast(columns: readonly Column[], i: number): boolean {
  return i === columns.length - 1;
}

function pad(text: string, width: number, align: Column['align'] | 'last'): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  if (align === 'last') return text;
  return align === 'right' ? space + text : text + space;
}

/** Columns of a terminal that text takes: East Asian wide characters and emoji take two, marks none. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segments().segment(text)) width += isWide(segment.codePointAt(0)!) ? 2 : 1;
  return width;
}

let segmenter: Intl.Segmenter | undefined;

/** Made when text needs it: that takes several milliseconds. */
function segments(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter;
}

function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  );
}
