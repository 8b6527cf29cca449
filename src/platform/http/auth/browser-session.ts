import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { clearCookie, readCookie, setCookie } from './browser-cookies';

/** The answer to a login: an opened session, or the page of the provider at which the login continues. */
interface LoginAnswer {
  token?: string;
  loginURL?: string;
  expires_at?: Date | 'infinity';
}

/** The provider's page must be done within this time; the server forgets the login at the same time. */
const SSO_TIMEOUT_MS = 10 * 60_000;

/** The console, as seen from the address to which the provider redirects. */
const CONSOLE_FROM_CALLBACK = '../../../../console/';

/**
 * Puts the token of an opened session into a cookie of the browser, and returns the rest of the answer. If the login continues at a
 * provider, the browser remembers that it began here: the token of a login that another browser began is not for it.
 */
export function keepInBrowser(request: Request, response: Response, result: LoginAnswer): LoginAnswer {
  const { token, ...rest } = result;
  if (token !== undefined) {
    const { expires_at: end } = rest;
    const lifetime = end instanceof Date ? { maxAgeMs: end.getTime() - Date.now() } : {};
    setCookie(request, response, 'session', { value: token, sameSite: 'strict', ...lifetime });
  } else if (rest.loginURL !== undefined) {
    const state = new URL(rest.loginURL).searchParams.get('state') ?? '';
    // The browser comes back from another site, which a strict cookie would not survive.
    setCookie(request, response, 'login', { value: hashOf(state), sameSite: 'lax', maxAgeMs: SSO_TIMEOUT_MS });
  }
  return rest;
}

/** True if this browser began the login in the console. */
export function returnsToConsole(request: Request, query: URLSearchParams): boolean {
  return readCookie(request, 'login')?.value === hashOf(query.get('state') ?? '');
}

/** Completes the provider's redirect, so that the browser has the session and goes on to the console. */
export function enterConsole(request: Request, response: Response, opened: LoginAnswer): LoginAnswer {
  const answer = keepInBrowser(request, response, opened);
  clearCookie(request, response, 'login');
  // A redirect by status would be part of the provider's, and the answer has a body like that of other clients.
  response.setHeader('Refresh', `0; url=${CONSOLE_FROM_CALLBACK}`);
  return answer;
}

function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('hex');
}
