import { expect, test } from 'vitest';
import { definePipeline, type PipelineOptions } from '../../../src/index.js';

const options: PipelineOptions = {
  name: 'p',
  table: 'memory',
  every: 'day',
  start: '2024-01-01',
  column: 'ts',
  produce: () => [],
};

test.each([
  [{ timezone: 'Europe/Berlin' }, /no option timezone\. Did you mean timeZone\?/],
  [{ keys: ['id'] }, /no option keys\. They are name, table, /],
  [{ name: '' }, /option name .* 1 to 200 characters/],
  [{ table: undefined }, /option table/],
  [{ every: 'dayly' }, /dayly is no step/],
  [{ every: '0 6 * * *' }, /give the cron expression as cadence/],
  [{ timeZone: 'Europe/Berln' }, /Europe\/Berln/],
  [{ start: '2024-01-01T06:00' }, /no bound .* nearest are 2024-01-01T00:00:00Z and 2024-01-02T00:00:00Z/],
  [{ mode: 'overwrite' }, /replace, upsert, append-once/],
  [{ mode: 'upsert' }, /upsert needs the columns of the key/],
  [{ on: ['id'] }, /for mode: 'upsert'/],
  [{ lookback: -1 }, /whole number of intervals/],
  [{ produce: undefined }, /option produce/],
])('a pipeline with %j is refused before a store is touched', (wrong, message) => {
  expect(() => definePipeline({ ...options, ...wrong } as PipelineOptions)).toThrow(message);
});
