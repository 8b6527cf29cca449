import type { IncomingMessage } from 'node:http';
import { unauthenticated } from '../errors/domain-error';
import type { Principal } from './principal';

/**
 * Puts the password of HTTP Basic, which is a token, where a bearer token is looked for, now and whenever the caller is read again;
 * the user name beside it. Null for a request without HTTP Basic.
 */
export function takeBasicAsBearer({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(headers.authorization ?? '') ?? [];
  if (encoded === undefined) return null;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  headers.authorization = `Bearer ${decoded.slice(colon + 1)}`;
  return decoded.slice(0, Math.max(colon, 0));
}

/** Throws a 401 for a token of somebody else than whom the caller names. */
export function assertNamed({ username }: Pick<Principal, 'username'>, named: string): void {
  if (named.toLowerCase() !== username.toLowerCase()) throw unauthenticated('The token is not one of this user.');
}
