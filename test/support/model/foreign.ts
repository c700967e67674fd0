import type { Engines } from '../engines/client.js';
import { lineOf } from './cells.js';
import { schemaJson } from './deltars-steps.js';
import { conditionSql } from './expressions.js';
import { foreignStatements } from './spark-sql.js';
import type { ForeignStep, Model } from './steps.js';

/** Does to a table what another engine does to it in a sequence. */
export function runForeign(
  engines: Engines,
  url: string,
  engine: 'spark' | 'deltars',
  step: ForeignStep,
  model: Model,
): Promise<void> {
  return engine === 'spark' ? runSpark(engines, url, step, model) : runDeltars(engines, url, step, model);
}

async function runSpark(engines: Engines, url: string, step: ForeignStep, model: Model) {
  const statements = foreignStatements(url, model, step);
  if (!statements) {
    await engines.ask('spark.checkpoint', { url });
    return;
  }
  const [played] = await engines.ask('twins.play', { tables: [{ url, steps: [statements] }] });
  if (played!.error !== undefined) throw new Error(played!.error);
}

async function runDeltars(engines: Engines, url: string, step: ForeignStep, { columns, isWide }: Model) {
  switch (step.op) {
    case 'append': {
      const schema = schemaJson(columns, isWide);
      const lines = step.rows.map((row) => lineOf(row, columns));
      await engines.ask('deltars.write', { url, schema, lines });
      return;
    }
    case 'delete':
      // Its SQL has no suffix of longs.
      await engines.ask('deltars.delete', { url, predicate: conditionSql(step.where).replace(/L$/, '') });
      return;
    case 'compact':
      await engines.ask('deltars.optimize', { url });
      return;
    case 'checkpoint':
      await engines.ask('deltars.checkpoint', { url });
  }
}
