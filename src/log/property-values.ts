const UNITS_MS: Readonly<Record<string, number>> = {
  week: 604_800_000,
  day: 86_400_000,
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
  microsecond: 0.001,
};

/**
 * Milliseconds of a duration as Delta properties have it: `interval 30 days`, `interval 1 week 12 hours`, `7 days`. Months and years have no fixed length and are
 * not durations; nor are negative ones. Undefined for anything else.
 */
export function parseDuration(text: string): number | undefined {
  const words = text.trim().toLowerCase().split(/\s+/);
  if (words[0] === 'interval') words.shift();
  if (words.length === 0 || words.length % 2 !== 0) return undefined;
  let total = 0;
  for (let i = 0; i < words.length; i += 2) {
    const [amount = '', unit = ''] = [words[i], words[i + 1]];
    const name = unit.replace(/s$/, '');
    if (!/^\d{1,15}(\.\d{1,9})?$/.test(amount) || !Object.hasOwn(UNITS_MS, name)) return undefined;
    total += Number(amount) * UNITS_MS[name]!;
  }
  return Number.isSafeInteger(Math.floor(total)) ? Math.floor(total) : undefined;
}

const BYTES: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};

/** Bytes of a size: `134217728`, `128mb`, `128 MiB`, `1g`; units are powers of 1024. Undefined for anything else and for zero. */
export function parseByteSize(text: string): number | undefined {
  const [, amount, unit = ''] = /^\s*(\d{1,15})\s*(b|[kmgt]i?b?)?\s*$/i.exec(text) ?? [];
  if (amount === undefined) return undefined;
  const bytes = Number(amount) * BYTES[unit.toLowerCase().replace(/(?<=[kmgt])i?b?$/, '')]!;
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
}

const COLUMN = /\s*((?:`(?:[^`]|``)+`|[^`.,]+)(?:\.(?:`(?:[^`]|``)+`|[^`.,]+))*)\s*(?:,|$)/y;
const PART = /`((?:[^`]|``)+)`|([^`.]+)/g;

/** Column paths with commas between, parts joined by dots, parts quoted by backticks where they need it. Undefined for anything else. */
export function parseColumnList(text: string): string[][] | undefined {
  const columns: string[][] = [];
  if (text.trim() === '') return columns;
  COLUMN.lastIndex = 0;
  while (COLUMN.lastIndex < text.length) {
    const [, column] = COLUMN.exec(text) ?? [];
    if (column === undefined) return undefined;
    columns.push(
      [...column.trim().matchAll(PART)].map(
        ([, quoted, plain]) => quoted?.replaceAll('``', '`') ?? plain!.trim(),
      ),
    );
  }
  return columns;
}
