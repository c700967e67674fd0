import { definePipeline } from 'intervale';

/**
 * Flights of a day, from the table that the raw files are imported into. Run it from the folder that holds both tables, and say where the source ends:
 * `tablectl backfill flights.ts --to 2001-07-02`.
 */
export const flights = definePipeline({
  name: 'flights',
  table: 'quickstart-table',
  create: {
    schema: 'date timestamp, delay long, distance long, origin string, destination string, day date',
    partitionBy: ['day'],
  },
  every: 'day',
  start: '2001-01-01',
  column: 'day',
  async produce({ read }) {
    const found = await read('quickstart-source', { during: 'day' });
    return found.batches();
  },
});
