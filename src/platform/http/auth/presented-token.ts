import type { Request } from 'express';
import { ExtractJwt } from 'passport-jwt';
import { changesRecords, type OperationOptions } from '../operation-options';
import { hasConsoleHeader, hasOwnOrigin, isFromOwnPage, readCookie } from './browser-cookies';

export interface NameAndPassword {
  username: string;
  password: string;
}

/** A request whose operation is known. */
export type RoutedRequest = Request & { operation?: OperationOptions };

/** Returns the token of a header `Authorization: Bearer …`; null without one. */
export const bearerToken = ExtractJwt.fromAuthHeaderAsBearerToken() as (request: Request) => string | null;

/** Returns the token that a client sends as the password of HTTP Basic; null without one, or if the operation does not accept it. */
export function basicToken({ operation, headers }: RoutedRequest): string | null {
  return operation?.acceptsBasicAuth ? (basicCredentials(headers.authorization)?.password ?? null) : null;
}

/**
 * Returns the token of the console's session cookie; null without one. A browser sends cookies with requests of any page, so this one
 * counts only if the request comes from a page of this server and, for a change, has the header of the console. A page cannot send that
 * header with the handshake of a WebSocket, but its browser then always names the origin, which must be this server.
 */
export function cookieToken(request: RoutedRequest): string | null {
  // A header that the client has set counts before a cookie that its browser adds.
  if (request.headers.authorization !== undefined || !isFromOwnPage(request)) return null;
  if (request.operation?.isUpgrade ? !hasOwnOrigin(request) : isChange(request) && !hasConsoleHeader(request))
    return null;
  return readCookie(request, 'session')?.value ?? null;
}

function isChange({ method, operation }: RoutedRequest): boolean {
  return (method !== 'GET' && method !== 'HEAD') || (operation !== undefined && changesRecords(operation));
}

/** Reads user name and password from a header `Authorization: Basic …`; null for any other header, and without a colon between the two. */
export function basicCredentials(authorization: string | null | undefined): NameAndPassword | null {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? '') ?? [];
  const decoded = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon === -1 ? null : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}
