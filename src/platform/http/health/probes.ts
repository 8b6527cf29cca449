import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';

export interface Readiness {
  ready: boolean;
  /** Why the process cannot work, or `OK`, followed by the services that it works without, if any. */
  message: string;
}

/** Adds to the message of a ready process what it works without; null if it lacks nothing. */
export function withDegradation(readiness: Readiness, problem: string | null): Readiness {
  return problem === null || !readiness.ready ? readiness : { ready: true, message: `OK. ${problem}` };
}

/**
 * Answers the probes of a supervisor: `/live` while the process runs, `/ready` while it can do its work. Answers whether
 * the request was one.
 */
export function respondToProbe(
  request: IncomingMessage,
  response: ServerResponse,
  readiness: () => Promise<Readiness>,
): boolean {
  if (request.url === '/live') answer(response, { ready: true, message: 'OK' });
  else if (request.url === '/ready') void readiness().then((found) => answer(response, found));
  else return false;
  return true;
}

function answer(response: ServerResponse, { ready, message }: Readiness): void {
  response.writeHead(ready ? 200 : 503, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ uptime: process.uptime(), message }));
}

/** Comes before whatever bounds the requests of strangers, since a supervisor is one and must not be kept out. */
export function probesMiddleware(readiness: () => Promise<Readiness>) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (request.method !== 'GET' || !respondToProbe(request, response, readiness)) next();
  };
}
