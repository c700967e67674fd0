import type { Span } from '../interval/calendar.js';
import { instantText } from '../interval/interval.js';
import type { State } from '../snapshot/state.js';

const PREFIX = 'intervale/1/';

/** What the table's log itself says of one interval: how many runs were committed, and when the last. */
export interface LedgerEntry extends Span {
  readonly attempt: number;
  /** Milliseconds since the Unix epoch; undefined where another writer left it out. */
  readonly lastUpdated: number | undefined;
}

/** The `txn.appId` of a pipeline's interval. */
export function appIdOf(pipeline: string, { startMs, endMs }: Span): string {
  return `${PREFIX}${encodeName(pipeline)}/${instantText(startMs)}/${instantText(endMs)}`;
}

/** Pipeline and interval of an `appId`; undefined for one that is none of ours. */
export function parseAppId(appId: string): ({ readonly pipeline: string } & Span) | undefined {
  if (!appId.startsWith(PREFIX)) return undefined;
  const slash = appId.indexOf('/', PREFIX.length);
  const span = slash < 0 ? undefined : parseSpan(appId.slice(slash + 1));
  if (!span) return undefined;
  try {
    return { pipeline: decodeURIComponent(appId.slice(PREFIX.length, slash)), ...span };
  } catch {
    return undefined;
  }
}

function parseSpan(text: string): Span | undefined {
  const slash = text.indexOf('/');
  const [startMs, endMs] = [instant(text.slice(0, slash)), instant(text.slice(slash + 1))];
  return startMs === undefined || endMs === undefined || startMs >= endMs ? undefined : { startMs, endMs };
}

/** The entries of one pipeline by `spanKey`. */
export function readLedger(state: Pick<State, 'txns'>, pipeline: string): Map<string, LedgerEntry> {
  const prefix = `${PREFIX}${encodeName(pipeline)}/`;
  const entries = new Map<string, LedgerEntry>();
  for (const [appId, { version, lastUpdated }] of state.txns) {
    if (!appId.startsWith(prefix)) continue;
    const span = parseSpan(appId.slice(prefix.length));
    if (!span) continue;
    entries.set(spanKey(span), { ...span, attempt: Number(version), lastUpdated: lastUpdated ?? undefined });
  }
  return entries;
}

/** The number of committed runs of one interval. */
export function attemptOf(state: Pick<State, 'txns'>, pipeline: string, span: Span): number {
  return Number(state.txns.get(appIdOf(pipeline, span))?.version ?? 0);
}

/** Tells one span from another. */
export function spanKey({ startMs, endMs }: Span): string {
  return `${startMs}/${endMs}`;
}

/** A name as one segment of a key or an `appId`: no slash, no dots alone. */
export function encodeName(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*.~]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

function instant(text: string): number | undefined {
  if (!INSTANT.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || instantText(ms) !== text ? undefined : ms;
}
