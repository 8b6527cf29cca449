import type { IncomingMessage } from 'node:http';

/** Replaces the token in a path. */
const REMOVED = '-';

interface TokenPath {
  /** Matches a well-formed path: the part before the token, and the token. */
  exact: RegExp;
  /** The literal segments before the last parameters. */
  literals: readonly string[];
}

const tokenPaths: TokenPath[] = [];

/** Declares the parameter of a path that holds the bearer token of the request. */
export function declarePathToken(path: string, parameter: string): void {
  const [before, after] = path.split(`{${parameter}}`);
  const [, literals = ''] = /([^{}]*)\/(?:\{\w+\}\/)*$/.exec(before ?? '') ?? [];
  if (before === undefined || after !== '') throw new Error(`The token of ${path} must be its last part`);
  tokenPaths.push({
    exact: new RegExp(`^([^?]*${before.replaceAll(/\{\w+\}/g, '[^/?]+')})([^/?]+)(?=/?(?:\\?|$))`),
    literals: literals.split('/').filter((part) => part !== ''),
  });
}

/**
 * Moves a token from the path of a request to its header, before any code reads or logs the path. It replaces the header,
 * because a client that opens the path means this token. From a malformed path, which matches no route, everything that may
 * be a token is removed.
 */
export function moveTokenToHeader(request: IncomingMessage): void {
  const { url = '' } = request;
  for (const { exact, literals } of tokenPaths) {
    const [whole, before, token] = exact.exec(url) ?? [];
    if (whole !== undefined && before !== undefined && token !== undefined) {
      request.url = `${before}${REMOVED}${url.slice(whole.length)}`;
      request.headers.authorization = `Bearer ${decoded(token)}`;
      return;
    }
    const [path = ''] = url.split('?', 1);
    const begin = endOfLiterals(path, literals);
    if (begin === path.length) continue;
    request.url = `${path.slice(0, begin)}${REMOVED}${url.slice(path.length)}`;
    return;
  }
}

const SLASH = /[/\\]|%(?:25)*(?:2f|5c)/gi;
/** A character that is percent-encoded once or repeatedly. */
const ENCODED = /%(?:25)*([0-9a-f]{2})/gi;

/** Returns the index after the literal segments, in whatever encoding; the length of the path if it lacks them or ends there. */
function endOfLiterals(path: string, literals: readonly string[]): number {
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
