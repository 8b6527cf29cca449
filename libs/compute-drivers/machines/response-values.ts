import { isIP } from 'node:net';

/** A time in an answer: SDKs promise a date and may give the text that was sent. Null for anything else. */
export function dateOf(value: unknown): Date | null {
  const date = value instanceof Date ? value : typeof value === 'string' ? new Date(value) : null;
  return date === null || Number.isNaN(date.getTime()) ? null : date;
}

/** An IP address in an answer; null for anything else. */
export function addressOf(value: unknown): string | null {
  return typeof value === 'string' && isIP(value) !== 0 ? value : null;
}
