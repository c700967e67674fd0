import { civilFromDays } from '../schema/calendar-text.js';
import { isSubDay, type Step } from './step.js';
import type { Zone } from './zone.js';

/**
 * The name of the interval that starts at `ms`. Days and longer are named by the local date (a month that starts on the 1st by year and month, a year that
 * starts in January by its number). Minutes and hours are named in UTC: a local hour may come twice, and shorter steps even out of order.
 */
export function labelText(step: Step, ms: number, wallMs: (ms: number) => number): string {
  if (isSubDay(step.unit)) return utcText(ms);
  const date = new Date(wallMs(ms)).toISOString().slice(0, 10);
  const anchor = civilFromDays(step.day);
  if (step.unit === 'year' && anchor.month === 1 && anchor.day === 1) return date.slice(0, -6);
  if ((step.unit === 'month' || step.unit === 'year') && anchor.day === 1) return date.slice(0, -3);
  return date;
}

/** What the zone's clocks show, with the offset: `2024-11-03T01:00-05:00`. */
export function localText(zone: Zone, ms: number): string {
  if (zone.id === 'UTC') return utcText(ms);
  const offset = zone.offsetMs(ms);
  const wall = new Date(ms + offset).toISOString();
  // As Temporal has it: an offset is rounded to the minute.
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const hours = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  const text = wall.slice(0, ms % 60_000 === 0 && offset % 60_000 === 0 ? 16 : 19);
  return `${text}${offset < 0 ? '-' : '+'}${hours.join(':')}`;
}

function utcText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, ms % 60_000 === 0 ? 16 : 19)}Z`;
}
