import { civilFromDays, dateText, daysFromCivil } from '../schema/calendar-text.js';
import { dayOfMicros, microsOfDay, pad } from './functions-time.js';

const LETTERS = /y+|M+|d+|D+|H+|h+|m+|s+|S+|a+|E+|u+|Q+|q+|[A-Za-z]+|'(?:[^']|'')*'|[^A-Za-z']+|'/g;
const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** What is wrong with a pattern of date_format, or undefined. Known letters: y M d D H h m s S a E Q, and quoted text. */
export function patternProblem(pattern: string): string | undefined {
  for (const [token] of pattern.matchAll(LETTERS)) {
    if (token === "'") return `the pattern ${JSON.stringify(pattern)} has an unclosed quote`;
    if (/^[A-Za-z]/.test(token) && piece(0n, token) === undefined) {
      return `the pattern ${JSON.stringify(pattern)} has ${token}, which is not supported`;
    }
  }
  return undefined;
}

/** The instant at UTC by a pattern of Spark's date_format; null for a pattern that is not supported. */
export function formatByPattern(micros: bigint, pattern: string): string | null {
  let text = '';
  for (const [token] of pattern.matchAll(LETTERS)) {
    if (token === "''") text += "'";
    else if (token.startsWith("'")) text += token.slice(1, -1).replaceAll("''", "'");
    else if (/^[A-Za-z]/.test(token)) {
      const value = piece(micros, token);
      if (value === undefined) return null;
      text += value;
    } else text += token;
  }
  return text;
}

function piece(micros: bigint, token: string): string | undefined {
  const width = token.length;
  const days = dayOfMicros(micros);
  const { year, month, day } = civilFromDays(days);
  const rest = microsOfDay(micros);
  const seconds = Math.floor(rest / 1_000_000);
  const hour = Math.floor(seconds / 3600);
  switch (token[0]) {
    case 'y':
      if (width === 2) return pad(((year % 100) + 100) % 100, 2);
      return width > 6 ? undefined : width === 4 ? dateText(days).slice(0, -6) : pad(year, width);
    case 'M':
      if (width > 4) return undefined;
      return width === 4
        ? MONTHS[month - 1]
        : width === 3
          ? MONTHS[month - 1]!.slice(0, 3)
          : pad(month, width);
    case 'd':
      return width > 2 ? undefined : pad(day, width);
    case 'D':
      return width > 3 ? undefined : pad(days - daysFromCivil(year, 1, 1) + 1, width);
    case 'H':
      return width > 2 ? undefined : pad(hour, width);
    case 'h':
      return width > 2 ? undefined : pad(((hour + 11) % 12) + 1, width);
    case 'm':
      return width > 2 ? undefined : pad(Math.floor(seconds / 60) % 60, width);
    case 's':
      return width > 2 ? undefined : pad(seconds % 60, width);
    case 'S':
      return width > 9 ? undefined : `${pad(rest % 1_000_000, 6)}000`.slice(0, width);
    case 'a':
      return width > 1 ? undefined : hour < 12 ? 'AM' : 'PM';
    case 'E': {
      const name = DAYS[(((days + 4) % 7) + 7) % 7]!;
      return width > 4 ? undefined : width === 4 ? name : name.slice(0, 3);
    }
    case 'Q':
    case 'q':
      return width > 2 ? undefined : pad(Math.ceil(month / 3), width);
    default:
      return undefined;
  }
}
