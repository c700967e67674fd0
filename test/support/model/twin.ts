import type { Sequence } from './generate.js';
import { applyOperation, isSkipped, type Model, type Operation, type Step } from './steps.js';

/**
 * What a sequence is to a table of another engine's own, a list for each step. `operation` says it of an operation, given the model before and after; those refused
 * or skipped are left out. `upkeep` says it of what leaves every row as it is.
 */
export function twinSteps<T>(
  { columns, partitionBy, steps }: Sequence,
  operation: (before: Model, after: Model, operation: Operation) => T[],
  upkeep: (op: 'checkpoint' | 'compact') => T[] = () => [],
): T[][] {
  let model: Model = { columns, partitionBy, rows: [] };
  const one = (each: Operation): T[] => {
    const outcome = applyOperation(model, each);
    if ('refused' in outcome || isSkipped(model, each)) return [];
    const before = model;
    model = outcome;
    return operation(before, outcome, each);
  };
  return steps.map((step: Step): T[] => {
    if (step.op === 'race') return step.steps.flatMap(one);
    const alone = step.op === 'foreign' ? step.step : step;
    return alone.op === 'checkpoint' || alone.op === 'compact' ? upkeep(alone.op) : one(alone);
  });
}
