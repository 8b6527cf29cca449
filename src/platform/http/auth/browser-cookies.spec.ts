import type { Request } from 'express';
import { isFromOwnPage, readCookie } from './browser-cookies';
import { cookieToken, type RoutedRequest } from './presented-token';

function requestWith(headers: Record<string, string>, more: Partial<RoutedRequest> = {}): RoutedRequest {
  const get = (name: string) => headers[name];
  return {
    headers,
    get,
    host: 'spark.example:8080',
    method: 'GET',
    secure: false,
    ...more,
  } as unknown as RoutedRequest;
}

const OWN = { 'sec-fetch-site': 'same-origin' };
const COOKIE = { cookie: 'a=b; session=the.token; c=d' };

describe('a request', () => {
  it.each<[boolean, Record<string, string>]>([
    [true, OWN],
    [false, { 'sec-fetch-site': 'same-site' }],
    [false, { 'sec-fetch-site': 'cross-site' }],
    // Somebody typed the address, or opened a link of another program.
    [false, { 'sec-fetch-site': 'none', 'x-console': '1' }],
    [false, { 'sec-fetch-site': 'cross-site', origin: 'http://spark.example:8080' }],
    [true, { origin: 'http://spark.example:8080' }],
    [false, { origin: 'http://spark.example' }],
    [false, { origin: 'http://spark.example.evil.test:8080' }],
    [false, { origin: 'null', 'x-console': '1' }],
    [false, { origin: 'nonsense' }],
    // Without TLS, browsers say nothing of a read; but only a page of this server can send the header.
    [true, { 'x-console': '1' }],
    [false, {}],
  ])('comes from an own page: %s, for %j', (isOwn, headers) => {
    expect(isFromOwnPage(requestWith(headers))).toBe(isOwn);
  });
});

describe('the cookie of a session', () => {
  it('counts for reads of an own page, and for changes only with the header of the console', () => {
    expect(cookieToken(requestWith({ ...OWN, ...COOKIE }))).toBe('the.token');
    expect(cookieToken(requestWith(COOKIE))).toBeNull();
    const change = { method: 'DELETE' };
    expect(cookieToken(requestWith({ ...OWN, ...COOKIE }, change))).toBeNull();
    expect(cookieToken(requestWith({ ...OWN, ...COOKIE, 'x-console': '1' }, change))).toBe('the.token');
  });

  it('needs the header for a read that changes something', () => {
    const operation = { method: 'GET', changesRecords: true } as RoutedRequest['operation'];
    expect(cookieToken(requestWith({ ...OWN, ...COOKIE }, { operation }))).toBeNull();
  });

  it.each<[string | null, Record<string, string>]>([
    ['the.token', { origin: 'http://spark.example:8080' }],
    ['the.token', { origin: 'http://spark.example:8080', ...OWN }],
    // A program that has stolen the cookie can name any origin; these are the pages of others.
    [null, { origin: 'http://evil.test' }],
    [null, { origin: 'null', ...OWN }],
    [null, { origin: 'http://spark.example:8080', 'sec-fetch-site': 'cross-site' }],
    [null, OWN],
    [null, { 'x-console': '1' }],
  ])('gives %j for the handshake of a WebSocket with %j', (token, headers) => {
    const operation = { method: 'GET', isUpgrade: true, changesRecords: true } as RoutedRequest['operation'];
    expect(cookieToken(requestWith({ ...headers, ...COOKIE }, { operation }))).toBe(token);
  });

  it.each(['Bearer other', 'Basic YTpi', ''])('does not count beside the header Authorization: %j', (authorization) => {
    expect(cookieToken(requestWith({ ...OWN, ...COOKIE, authorization }))).toBeNull();
  });

  it.each<[string, Record<string, string>, Partial<Request>]>([
    ['a proxy with TLS', {}, { secure: true }],
    ['a page with TLS', { origin: 'https://spark.example:8080' }, {}],
  ])('without the prefix of a secure one may be of another host, so it is ignored with %s', (_what, headers, more) => {
    expect(readCookie(requestWith({ ...COOKIE, ...headers }, more as RoutedRequest), 'session')).toBeNull();
    const both = { ...headers, cookie: 'session=forged; __Host-session=own' };
    expect(readCookie(requestWith(both, more as RoutedRequest), 'session')).toEqual({ value: 'own', isSecure: true });
  });

  it.each(['', 'session', 'xsession=1', 'session=%E0%A4%A', '=;=;;'])('is none in %j', (cookie) => {
    expect(readCookie(requestWith({ cookie }), 'session')).toBeNull();
  });
});
