import type { Calendar } from '../../interval/calendar.js';
import type { Coverage, CoverageEntry, IntervalState } from '../../pipeline/coverage.js';
import type { RepeatedKeys } from '../../pipeline/repeated-keys.js';
import { counted } from '../render/bytes.js';
import { jsonText } from '../render/json.js';
import { oneLine } from '../render/table.js';
import type { Paint, Style } from '../terminal.js';
import { intervalDocument, versionText } from './documents.js';

const CELLS: Readonly<Record<IntervalState, readonly [cell: string, style: Style]>> = {
  done: ['\u25a0', 'green'],
  empty: ['\u25a1', 'green'],
  missing: ['\u00b7', 'red'],
  open: ['\u25cb', 'dim'],
  stale: ['~', 'yellow'],
  changed: ['!', 'yellow'],
  undone: ['u', 'cyan'],
  unknown: ['?', 'dim'],
};

/** Minutes are shown an hour a line, hours a day, days a month, and longer ones a year. */
const LINE: Readonly<Record<string, number>> = { minute: 13, hour: 10, day: 7, week: 4, month: 4, year: 0 };
const WIDEST = 62;
/** Intervals whose text is made at once. */
const AT_ONCE = 10_000;
/** Intervals of one key that are named. */
const MOST_NAMED = 5;

/** Coverage as a calendar: a cell an interval. */
export function coverageLines(coverage: Coverage, calendar: Calendar, paint: Paint): string[] {
  const { entries, counts } = coverage;
  const digits = LINE[calendar.step.unit]!;
  const lines = new Map<string, CoverageEntry[]>();
  for (const entry of entries) {
    const name = entry.interval.local.slice(0, digits);
    const line = lines.get(name);
    if (line && line.length < WIDEST) line.push(entry);
    else lines.set(line ? `${name} ` : name, [entry]);
  }
  const cell = ({ state }: CoverageEntry): string => paint(CELLS[state][1], CELLS[state][0]);
  const width = Math.max(0, ...[...lines.keys()].map(({ length }) => length));
  const legend = (Object.keys(CELLS) as IntervalState[])
    .filter((state) => counts[state] > 0)
    .map((state) => `${paint(CELLS[state][1], CELLS[state][0])} ${counts[state]} ${state}`);
  return [
    `${paint('bold', coverage.pipeline)} in ${versionText(coverage)}, ${calendar.timeZone}`,
    ...[...lines].map(([name, line]) => `${name.padEnd(width)}  ${line.map(cell).join('')}`),
    legend.join('   ') || 'no intervals yet',
    ...(coverage.keys ? keyLines(coverage.keys, paint) : []),
  ];
}

function keyLines({ columns, count, examples }: RepeatedKeys, paint: Paint): string[] {
  if (count === 0) return [`no key of ${columns.join(', ')} lies in two intervals`];
  const shown = examples.map(({ key, intervals }) => {
    const names = intervals.slice(0, MOST_NAMED).map(String);
    const more = intervals.length > MOST_NAMED ? ` and ${intervals.length - MOST_NAMED} more` : '';
    return `  ${oneLine(jsonText(key))} in ${names.join(', ')}${more}`;
  });
  const rest = count > examples.length ? [`  and ${count - examples.length} more keys`] : [];
  return [paint('yellow', `${counted(count, 'key')} in two intervals or more:`), ...shown, ...rest];
}

/** The same as a document (spec/schema/coverage.json), its text in pieces: a table may have half a million intervals. */
export function* coverageJson({
  pipeline,
  url,
  version,
  counts,
  entries,
  keys,
}: Coverage): Generator<string> {
  yield `${jsonText({ pipeline, url, version, counts }).slice(0, -1)},"intervals":[`;
  for (let from = 0; from < entries.length; from += AT_ONCE) {
    const texts = entries.slice(from, from + AT_ONCE).map((entry) => JSON.stringify(entryDocument(entry)));
    yield `${from === 0 ? '' : ','}${texts.join(',')}`;
  }
  if (!keys) return yield ']}\n';
  const examples = keys.examples.map(({ key, intervals }) => ({
    key,
    intervals: intervals.map(intervalDocument),
  }));
  yield `],"keys":${jsonText({ ...keys, examples })}}\n`;
}

function entryDocument({ interval, state, attempt, rows, live, run }: CoverageEntry): object {
  return {
    ...intervalDocument(interval),
    state,
    attempt,
    rows: rows ?? null,
    live: live ?? null,
    runId: run?.runId ?? null,
    version: run?.version ?? null,
  };
}
