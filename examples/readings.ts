// Hourly readings of three stations, a day of Berlin at a time: the pipeline that the schedulers beside it run.
import { definePipeline, type ProduceContext } from 'intervale';

export interface Reading {
  readonly at: string;
  readonly station: string;
  readonly celsius: number;
}

/** Stands for a query, files or an API. Whatever it is: the same interval gives the same rows, and reads nothing but what belongs to it. */
export async function* readStations({ interval }: ProduceContext): AsyncGenerator<Reading> {
  const hours = interval.duration / 3_600_000;
  for (let hour = 0; hour < hours; hour++) {
    const at = interval.start.add({ hours: hour }).toString();
    yield { at, station: 'harbour', celsius: 6 + (hour % 7) };
    yield { at, station: 'hill', celsius: 1 + (hour % 11) };
    yield { at, station: 'town', celsius: 4 + (hour % 5) };
  }
}

export const readings = definePipeline<Reading>({
  name: 'readings',
  table: process.env.READINGS_TABLE ?? 'readings-table',
  create: { schema: 'at timestamp, station string, celsius double' },
  every: 'day',
  timeZone: 'Europe/Berlin',
  start: '2024-01-01',
  column: 'at',
  produce: readStations,
});
