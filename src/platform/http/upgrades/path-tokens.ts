import type { IncomingMessage } from 'node:http';

/** What is in the place of a token that was taken. */
const TAKEN = '-';

/** Paths whose last part but `token` is before it. */
const places: RegExp[] = [];

/** Declares the parameter of a path that holds the bearer token of the request. */
export function declarePathToken(path: string, parameter: string): void {
  const [before, after] = path.split(`{${parameter}}`);
  if (before === undefined || after !== '') throw new Error(`The token of ${path} must be its last part`);
  places.push(new RegExp(`^([^?]*${before.replaceAll(/\{\w+\}/g, '[^/?]+')})([^/?]+)`));
}

/**
 * Moves a token from the path of a request to its header, before anything reads or logs either. It wins over the header,
 * since whoever opens the path means it.
 */
export function takePathToken(request: IncomingMessage): void {
  const { url = '' } = request;
  for (const place of places) {
    const found = place.exec(url);
    const [whole, before, token] = found ?? [];
    if (whole === undefined || before === undefined || token === undefined) continue;
    request.url = `${before}${TAKEN}${url.slice(whole.length)}`;
    request.headers.authorization = `Bearer ${decoded(token)}`;
    return;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
