import type { PlanItem, RunPlan } from '../../pipeline/plan.js';
import { counted, countText } from '../render/bytes.js';
import { tableLines } from '../render/table.js';
import type { Paint } from '../terminal.js';
import { versionText } from './documents.js';

/** Lines of a plan that is about to run; a dry run shows all. */
const MOST_LINES = 40;

/** Neighbours of the plan that are run for the same reason. */
type Group = readonly [first: PlanItem, ...rest: PlanItem[]];

/** What is going to run. With `each` a line an interval, else neighbours that are run for the same reason share one. */
export function planLines(plan: RunPlan, paint: Paint, each: boolean): string[] {
  const { items } = plan;
  const left = Object.entries(plan.left).map(([state, count]) => `${countText(count)} ${state}`);
  const head = `plan: ${counted(items.length, 'interval')} of ${plan.pipeline} into ${versionText(plan)}${left.length > 0 ? `; left alone: ${left.join(', ')}` : ''}`;
  const [item] = items;
  if (!item) return [head];
  const groups = each ? items.map((one): Group => [one]) : grouped(items);
  const shown = each ? groups : groups.slice(0, MOST_LINES);
  const right = 'right' as const;
  const isLocal = item.interval.timeZone !== 'UTC';
  const columns = [
    { title: 'interval' },
    ...(isLocal ? [{ title: 'starts' }] : []),
    ...(each ? [] : [{ title: 'intervals', align: right }]),
    { title: 'why' },
    { title: 'attempt', align: right },
    { title: 'rows it replaces', align: right },
  ];
  const rows = shown.map((group) => {
    const [first] = group;
    const last = group.at(-1)!;
    return [
      first === last ? first.interval.label : `${first.interval.label} to ${last.interval.label}`,
      ...(isLocal ? [first.interval.local] : []),
      ...(each ? [] : [countText(group.length)]),
      first.why,
      String(first.attempt + 1),
      replacedText(group),
    ];
  });
  const hidden = items.length - shown.reduce((sum, { length }) => sum + length, 0);
  return [
    head,
    ...tableLines(columns, rows, paint),
    ...(hidden > 0 ? [`... and ${counted(hidden, 'more interval')}`] : []),
  ];
}

function grouped(items: readonly PlanItem[]): Group[] {
  const groups: [PlanItem, ...PlanItem[]][] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (last && belong(last.at(-1)!, item)) last.push(item);
    else groups.push([item]);
  }
  return groups;
}

function belong(a: PlanItem, b: PlanItem): boolean {
  const touch = a.interval.endMs === b.interval.startMs || b.interval.endMs === a.interval.startMs;
  return touch && a.why === b.why && a.attempt === b.attempt;
}

function replacedText(items: readonly PlanItem[]): string {
  let sum = 0;
  for (const { replaces } of items) {
    if (replaces === undefined) return 'not counted';
    sum += replaces;
  }
  return countText(sum);
}
