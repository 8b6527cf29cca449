import type { CookieOptions, Request, Response } from 'express';

/**
 * Header that the console sends with its requests. A page of another site cannot send it: its browser would first ask this server,
 * which permits no other site.
 */
export const CONSOLE_HEADER = 'x-console';

/** Cookies of the console: the token of its session, and the state of a login that is pending at the provider. */
type CookieName = 'session' | 'login';

/** A browser takes a cookie with this prefix only over TLS, from this very host, and for all paths (RFC 6265bis). */
const HOST_PREFIX = '__Host-';

export interface BrowserCookie {
  value: string;
  /** True if the browser keeps it for TLS only. */
  isSecure: boolean;
}

/** True if the request comes from a page of this server. Only then do its cookies count. */
export function isFromOwnPage(request: Request): boolean {
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  // Browsers leave that header out without TLS, except for localhost. Then they name the origin of changes only.
  const hasNoOrigin = request.get('origin') === undefined;
  return hasNoOrigin ? hasConsoleHeader(request) : hasOwnOrigin(request);
}

/** True if the browser names this server as the origin of the request. */
export function hasOwnOrigin(request: Request): boolean {
  const origin = request.get('origin');
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === request.host;
}

export function hasConsoleHeader(request: Request): boolean {
  return request.get(CONSOLE_HEADER) !== undefined;
}

/** Returns a cookie of the console; null if the browser sent none. Over TLS one without the prefix may be of another host and is ignored. */
export function readCookie(request: Request, name: CookieName): BrowserCookie | null {
  const secure = cookieValue(request, HOST_PREFIX + name);
  if (secure !== null) return { value: secure, isSecure: true };
  const plain = isOverTls(request) ? null : cookieValue(request, name);
  return plain === null ? null : { value: plain, isSecure: false };
}

interface NewCookie {
  value: string;
  /** Absent if the cookie ends with the browser. */
  maxAgeMs?: number;
  /** `lax` for a cookie that the browser must send when another site sends it here. */
  sameSite: 'strict' | 'lax';
}

/** Sets a cookie that scripts cannot read. */
export function setCookie(request: Request, response: Response, name: CookieName, cookie: NewCookie): void {
  const isSecure = isOverTls(request);
  const { value, maxAgeMs: maxAge, sameSite } = cookie;
  response.cookie(prefixed(name, isSecure), value, {
    ...options(isSecure),
    sameSite,
    ...(maxAge === undefined ? {} : { maxAge }),
  });
}

export function clearCookie(request: Request, response: Response, name: CookieName): void {
  const isSecure = readCookie(request, name)?.isSecure ?? isOverTls(request);
  response.clearCookie(prefixed(name, isSecure), { ...options(isSecure), sameSite: 'strict' });
}

function prefixed(name: CookieName, isSecure: boolean): string {
  return isSecure ? HOST_PREFIX + name : name;
}

function options(isSecure: boolean): CookieOptions {
  return { httpOnly: true, secure: isSecure, path: '/' };
}

/**
 * True if the browser uses TLS. It ends at a proxy; unless that is trusted to say so, the origin of the request shows it, and, when a
 * provider sends the browser back, the cookie of the pending login.
 */
function isOverTls(request: Request): boolean {
  if (request.secure || cookieValue(request, `${HOST_PREFIX}login`) !== null) return true;
  return request.get('origin')?.startsWith('https://') ?? false;
}

/** Returns the first value of a cookie, decoded; null without one. */
function cookieValue(request: Request, name: string): string | null {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value !== undefined) return decoded(value);
  }
  return null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
