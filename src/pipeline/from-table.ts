import { TableError } from '../errors.js';
import { Calendar } from '../interval/calendar.js';
import type { StepOptions } from '../interval/step.js';
import type { Runtime } from '../runtime/runtime.js';
import { newestCalendars } from './calendar-file.js';
import type { Definition } from './definition.js';
import { readLedger } from './ledger.js';
import { Pipeline } from './pipeline.js';

/**
 * The pipelines of a table as its own files tell them, by name: good for looking, not for running. A pipeline starts at its oldest run.
 * Throws `NOT_A_TABLE`.
 */
export async function pipelinesOfTable(url: string, runtime: Runtime): Promise<Pipeline[]> {
  const table = runtime.table(url);
  const state = await table.latest.get();
  const pipelines: Pipeline[] = [];
  for (const { file } of (await newestCalendars(table.store)).values()) {
    const { unit, count, timeZone, anchor } = file.calendar;
    const calendar = new Calendar({ every: { unit, count, anchor } as StepOptions, timeZone });
    const oldest = readLedger(state, file.pipeline).starts[0] ?? table.ctx.clock.now();
    const definition: Definition = {
      name: file.pipeline,
      url: table.url,
      create: undefined,
      calendar,
      startMs: calendar.nearest(oldest).before,
      column: file.column,
      scope: file.scope ?? undefined,
      mode: file.mode,
      on: [],
      order: undefined,
      lookback: 0,
      cadence: undefined,
      evolve: new Set(),
      codeVersion: undefined,
      allowForgetting: true,
      produce: () => {
        throw new TableError(
          'INVALID_INPUT',
          `Only the file that defines ${file.pipeline} can produce its rows.`,
          {
            pipeline: file.pipeline,
          },
        );
      },
    };
    pipelines.push(new Pipeline(definition, runtime));
  }
  return pipelines.sort((a, b) => (a.name < b.name ? -1 : 1));
}
