import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';

export interface Readiness {
  ready: boolean;
  /** The reason why the process cannot work, or `OK`, followed by a problem that it works with, if any. */
  message: string;
}

/** Adds a problem that does not stop the process to the message of a ready process. */
export function withDegradation(readiness: Readiness, problem: string | null): Readiness {
  return problem === null || !readiness.ready ? readiness : { ready: true, message: `OK. ${problem}` };
}

/**
 * Responds to the probes of a supervisor: `/live` succeeds while the process runs, `/ready` while it can do its work.
 * Returns false if the request is no probe.
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

/** This middleware must come before the limits of unauthenticated requests, because a supervisor's probes are unauthenticated. */
export function probesMiddleware(readiness: () => Promise<Readiness>) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (request.method !== 'GET' || !respondToProbe(request, response, readiness)) next();
  };
}
