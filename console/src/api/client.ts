import { CookieSession, Transport } from 'managed-spark/core';

/** The address of this file, which is two folders below the server: console/assets. */
const here = import.meta.url;

/** Path of the console, with a slash at its end. A proxy may have added a prefix. */
export const consolePath = new URL('../', here).pathname;

const serverUrl = new URL('../../', here).href.replace(/\/$/, '');

/** A request is repeated for this time; then the screen shows that the server does not answer. */
const RETRY_MS = 8_000;

/** Calls operations of the API, as the user whose session the browser has. */
export const api = new Transport({
  url: serverUrl,
  session: new CookieSession(),
  // The server takes no cookie for a change without this header.
  headers: { 'x-console': '1' },
  retryMs: RETRY_MS,
});

/** Address of a path below /api/v1, for links. */
export function apiUrl(path: string, query: Record<string, string | number | boolean | undefined> = {}): string {
  const url = new URL(`${serverUrl}/api/v1${path}`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url.href;
}
