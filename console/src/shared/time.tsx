import { type ReactNode, useEffect, useState } from 'react';
import { texts } from './texts';

const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });
const SHORT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

const DAY_OF_YEAR = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns a date; null for none and for `infinity`, the end of what has not ended. */
export function dateOf(text: string | null | undefined): Date | null {
  if (text === null || text === undefined || text === 'infinity') return null;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}

export function exactTime(date: Date): string {
  return EXACT.format(date);
}

export function relativeTime(date: Date, now: number): string {
  const age = now - date.getTime();
  if (age < 10 * SECOND) return texts.time.justNow;
  if (age < MINUTE) return `${Math.floor(age / SECOND)} s ago`;
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`;
  if (age < DAY) return `${Math.floor(age / HOUR)} h ago`;
  if (age < 7 * DAY) return `${Math.floor(age / DAY)} d ago`;
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? SHORT : DAY_OF_YEAR).format(date);
}

/** Returns a duration such as `0.8 s`, `42 s`, `3 min 05 s` or `2 h 10 min`. */
export function durationText(ms: number): string {
  if (ms < 0) return texts.time.never;
  if (ms < 10 * SECOND) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${two((ms % MINUTE) / SECOND)} s`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${two((ms % HOUR) / MINUTE)} min`;
  return `${Math.floor(ms / DAY)} d ${two((ms % DAY) / HOUR)} h`;
}

/** The present time, which moves on while the page is visible. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const tick = () => document.visibilityState === 'visible' && setNow(Date.now());
    const timer = setInterval(tick, intervalMs);
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }, [intervalMs]);
  return now;
}

/** A time as its distance from now, with the exact time on hover. */
export function RelativeTime({ at, now }: { at: string; now: number }): ReactNode {
  const date = dateOf(at);
  if (!date) return texts.time.never;
  return (
    <time dateTime={date.toISOString()} title={exactTime(date)}>
      {relativeTime(date, now)}
    </time>
  );
}
