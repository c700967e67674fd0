import { stringifyJson } from '../../log/json.js';

/** JSON text of a document, exact for bigint. Members that are undefined are left out. */
export function jsonText(document: unknown): string {
  return stringifyJson(plain(document));
}

/** An instant as documents have it, from milliseconds since the Unix epoch. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function plain(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Error) return value.message;
  if (value.constructor !== Object && value.constructor !== undefined) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}
