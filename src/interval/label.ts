import { Temporal } from 'temporal-polyfill';
import { civilFromDays } from '../schema/calendar-text.js';
import { isSubDay, type Step } from './step.js';
import type { Zone } from './zone.js';

/**
 * The name of the interval that starts at `ms`. Days and longer are named by the local date (a month that starts on the 1st by year and month, a year that
 * starts in January by its number). Minutes and hours are named in UTC: a local hour may come twice, and shorter steps even out of order.
 */
export function labelText(step: Step, ms: number, wall: Temporal.PlainDateTime): string {
  if (isSubDay(step.unit)) return utcText(ms);
  const date = wall.toPlainDate().toString();
  const anchor = civilFromDays(step.day);
  if (step.unit === 'year' && anchor.month === 1 && anchor.day === 1) return date.slice(0, -6);
  if ((step.unit === 'month' || step.unit === 'year') && anchor.day === 1) return date.slice(0, -3);
  return date;
}

/** What the zone's clocks show, with the offset: `2024-11-03T01:00-05:00`. */
export function localText(zone: Zone, ms: number): string {
  if (zone.id === 'UTC') return utcText(ms);
  return Temporal.Instant.fromEpochMilliseconds(ms).toString({
    timeZone: zone.id,
    smallestUnit: ms % 60_000 === 0 && Number.isInteger(zone.offsetMinutes(ms)) ? 'minute' : 'second',
  });
}

function utcText(ms: number): string {
  const instant = Temporal.Instant.fromEpochMilliseconds(ms);
  return instant.toString({ smallestUnit: ms % 60_000 === 0 ? 'minute' : 'second' });
}
