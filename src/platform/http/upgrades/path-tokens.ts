import type { IncomingMessage } from 'node:http';

/** What is in the place of a token that was taken. */
const TAKEN = '-';

interface Place {
  /** A path that is as it should be: all but the token, and the token. */
  exact: RegExp;
  /** The parts of the path before its last parameters. */
  literals: readonly string[];
}

const places: Place[] = [];

/** Declares the parameter of a path that holds the bearer token of the request. */
export function declarePathToken(path: string, parameter: string): void {
  const [before, after] = path.split(`{${parameter}}`);
  const [, literals = ''] = /([^{}]*)\/(?:\{\w+\}\/)*$/.exec(before ?? '') ?? [];
  if (before === undefined || after !== '') throw new Error(`The token of ${path} must be its last part`);
  places.push({
    exact: new RegExp(`^([^?]*${before.replaceAll(/\{\w+\}/g, '[^/?]+')})([^/?]+)(?=/?(?:\\?|$))`),
    literals: literals.split('/').filter((part) => part !== ''),
  });
}

/**
 * Moves a token from the path of a request to its header, before anything reads or logs either. It wins over the header,
 * since whoever opens the path means it. A path that is mistaken leads nowhere, and loses all that may be a token.
 */
export function moveTokenToHeader(request: IncomingMessage): void {
  const { url = '' } = request;
  for (const { exact, literals } of places) {
    const [whole, before, token] = exact.exec(url) ?? [];
    if (whole !== undefined && before !== undefined && token !== undefined) {
      request.url = `${before}${TAKEN}${url.slice(whole.length)}`;
      request.headers.authorization = `Bearer ${decoded(token)}`;
      return;
    }
    const [path = ''] = url.split('?', 1);
    const begin = behind(path, literals);
    if (begin === path.length) continue;
    request.url = `${path.slice(0, begin)}${TAKEN}${url.slice(path.length)}`;
    return;
  }
}

const SLASH = /[/\\]|%(?:25)*(?:2f|5c)/gi;
/** A character that is percent-encoded, once or more often. */
const ENCODED = /%(?:25)*([0-9a-f]{2})/gi;

/** Where begins what is behind the parts, however these are written; the length of the path if nothing is. */
function behind(path: string, literals: readonly string[]): number {
  let begin = 0;
  let found = 0;
  for (const { 0: slash, index } of path.matchAll(SLASH)) {
    const part = plain(path.slice(begin, index));
    begin = index + slash.length;
    if (part === '' || part === '.') continue;
    if (part === literals[found]) found += 1;
    else found = part === literals[0] ? 1 : 0;
    if (found === literals.length) return begin;
  }
  return path.length;
}

function plain(text: string): string {
  return text
    .replaceAll(ENCODED, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .toLowerCase();
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
