import { parseDdl } from '../../../src/index.js';
import { serializeSchema } from '../../../src/schema/schema-json.js';
import type { JsonObject } from '../../../src/schema/types.js';
import type { Engines } from '../engines/client.js';
import { type Column, ddlOf, lineOf } from './cells.js';
import { conditionSql } from './expressions.js';
import type { ForeignStep } from './steps.js';

/** Does to a table what another engine does to it in a sequence. */
export async function runForeign(
  engines: Engines,
  url: string,
  engine: 'spark' | 'deltars',
  step: ForeignStep,
  columns: readonly Column[],
): Promise<void> {
  switch (step.op) {
    case 'append': {
      const schema = JSON.parse(serializeSchema(parseDdl(ddlOf(columns)))) as JsonObject;
      await engines.ask(`${engine}.write`, {
        url,
        schema,
        lines: step.rows.map((row) => lineOf(row, columns)),
      });
      return;
    }
    case 'delete':
      if (engine === 'spark') {
        await engines.ask('spark.sql', {
          text: `DELETE FROM delta.\`${url}\` WHERE ${conditionSql(step.where)}`,
        });
      } else {
        await engines.ask('deltars.delete', { url, predicate: conditionSql(step.where).replace(/L$/, '') });
      }
      return;
    case 'compact':
      if (engine === 'spark') await engines.ask('spark.sql', { text: `OPTIMIZE delta.\`${url}\`` });
      else await engines.ask('deltars.optimize', { url });
      return;
    case 'checkpoint':
      await engines.ask(`${engine}.checkpoint`, { url });
  }
}
