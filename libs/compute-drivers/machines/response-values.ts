import { isIP } from 'node:net';

/** Reads a time from a response; null if it is none. SDKs declare a date but may return the text that was sent. */
export function dateOf(value: unknown): Date | null {
  const date = value instanceof Date ? value : typeof value === 'string' ? new Date(value) : null;
  return date === null || Number.isNaN(date.getTime()) ? null : date;
}

/** Reads an IP address from a response; null if it is none. */
export function addressOf(value: unknown): string | null {
  return typeof value === 'string' && isIP(value) !== 0 ? value : null;
}
