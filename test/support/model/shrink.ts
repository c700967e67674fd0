import type { Sequence } from './generate.js';
import { kindOf } from './run-sequence.js';
import type { Operation, Step } from './steps.js';

/** A smaller sequence that fails in the same way: steps are dropped, then rows and clauses of what is left, until nothing can go or time is up. */
export async function shrink(
  sequence: Sequence,
  failure: Error,
  failureOf: (candidate: Sequence) => Promise<Error | undefined>,
  limitMs: number,
): Promise<Sequence> {
  const end = performance.now() + limitMs;
  let smallest = sequence;
  for (let again = true; again; ) {
    again = false;
    for (const candidate of smaller(smallest)) {
      if (performance.now() > end) return smallest;
      const other = await failureOf(candidate);
      if (!other || kindOf(other) !== kindOf(failure)) continue;
      smallest = candidate;
      again = true;
      break;
    }
  }
  return smallest;
}

function* smaller(sequence: Sequence): Generator<Sequence> {
  const { steps } = sequence;
  const of = (...changed: Step[][]): Sequence[] => changed.map((each) => ({ ...sequence, steps: each }));
  for (let size = Math.floor(steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = steps.length - size; at >= 0; at -= size) {
      yield* of([...steps.slice(0, at), ...steps.slice(at + size)]);
    }
  }
  if (Object.keys(sequence.properties).length > 0) yield { ...sequence, properties: {} };
  for (const [i, step] of steps.entries()) {
    for (const less of smallerSteps(step)) yield* of(steps.with(i, less) as Step[]);
  }
}

function* smallerSteps(step: Step): Generator<Step> {
  if (step.op === 'checkpoint') return;
  if (step.op === 'foreign') {
    const inner = step.step;
    if (inner.op !== 'append') return;
    for (const rows of fewer(inner.rows)) yield { ...step, step: { ...inner, rows } };
    return;
  }
  if (step.op === 'race') {
    for (const [i, each] of step.steps.entries()) {
      yield each;
      for (const less of smallerSteps(each)) yield { ...step, steps: step.steps.with(i, less as Operation) };
    }
    return;
  }
  if (step.token) {
    const { token: _, ...without } = step;
    yield without as Step;
  }
  if ('rows' in step) for (const rows of fewer(step.rows)) yield { ...step, rows };
  if (step.op === 'merge') {
    for (const name of ['dedupe', 'whenMatched', 'whenNotMatched', 'whenNotMatchedBySource'] as const) {
      const { [name]: left, ...without } = step;
      if (left) yield without as Step;
    }
  }
  if ('where' in step) {
    const { where } = step;
    const parts = 'and' in where ? where.and : 'or' in where ? where.or : 'not' in where ? [where.not] : [];
    for (const part of parts) yield { ...step, where: part };
  }
}

function* fewer<T>(items: readonly T[]): Generator<T[]> {
  if (items.length > 1) {
    yield items.slice(0, items.length >> 1);
    yield items.slice(items.length >> 1);
  }
  for (const i of items.keys()) yield items.filter((_, at) => at !== i);
}
