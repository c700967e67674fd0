import { describe, expect, test } from 'vitest';
import { parseCron } from '../../../src/interval/cron.js';
import { instantText } from '../../../src/interval/interval.js';

const due = (text: string, from: string, to: string, zone?: string): string[] =>
  [...parseCron(text, zone).dueBetween(Date.parse(from), Date.parse(to))].map(instantText);

describe('a cadence', () => {
  test('is due after the first instant and up to the last', () => {
    expect(due('0 6 * * *', '2024-01-01T06:00Z', '2024-01-03T06:00Z')).toEqual([
      '2024-01-02T06:00:00Z',
      '2024-01-03T06:00:00Z',
    ]);
  });

  test('knows names, lists, ranges and steps', () => {
    expect(due('*/20 8-9 1,15 jan-feb *', '2024-01-01T00:00Z', '2024-01-01T09:00Z')).toEqual([
      '2024-01-01T08:00:00Z',
      '2024-01-01T08:20:00Z',
      '2024-01-01T08:40:00Z',
      '2024-01-01T09:00:00Z',
    ]);
    expect(due('@weekly', '2024-01-01T00:00Z', '2024-01-15T00:00Z')).toEqual([
      '2024-01-07T00:00:00Z',
      '2024-01-14T00:00:00Z',
    ]);
    expect(due('0 0 * * 7', '2024-01-01T00:00Z', '2024-01-08T00:00Z')).toEqual(['2024-01-07T00:00:00Z']);
  });

  test('takes either day where both are limited', () => {
    expect(due('0 0 13 * fri', '2024-09-01T00:00Z', '2024-09-14T00:00Z')).toEqual([
      '2024-09-06T00:00:00Z',
      '2024-09-13T00:00:00Z',
    ]);
  });

  test('is due once where clocks repeat an hour, and after the skip where they skip one', () => {
    expect(due('30 2 * * *', '2024-03-30T12:00Z', '2024-04-01T00:00Z', 'Europe/Berlin')).toEqual([
      '2024-03-31T01:00:00Z',
    ]);
    expect(due('30 2 * * *', '2024-10-26T12:00Z', '2024-10-28T00:00Z', 'Europe/Berlin')).toEqual([
      '2024-10-27T00:30:00Z',
    ]);
  });

  test('finds the last due instant', () => {
    const { lastDue } = parseCron('0 0 29 2 *');
    expect(instantText(lastDue(Date.parse('2027-01-01T00:00Z'))!)).toBe('2024-02-29T00:00:00Z');
  });

  test.each([
    '',
    '* * * *',
    '60 * * * *',
    '* 24 * * *',
    '5-1 * * * *',
    '*/0 * * * *',
    '0 0 30 2 *',
    'a * * * *',
  ])('refuses %j', (text) => expect(() => parseCron(text)).toThrow(/is no cron expression/));
});
