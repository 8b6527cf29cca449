import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import helmet, { type HelmetOptions } from 'helmet';

type Directives = Record<string, string[]>;

/** Nothing beyond this may be run, framed, or passed on. */
const CLOSED: Directives = {
  defaultSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/** The Swagger UI: its own files, which have styles in the page and pictures in the styles. */
const DOCS: Directives = {
  ...CLOSED,
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
};

function optionsFor(directives: Directives): HelmetOptions {
  return {
    contentSecurityPolicy: { useDefaults: false, directives },
    frameguard: { action: 'deny' },
    // TLS ends in front of the process, which therefore cannot promise it.
    strictTransportSecurity: false,
    // Useful only to pages and browsers of the past.
    originAgentCluster: false,
    dnsPrefetchControl: false,
    ieNoOpen: false,
    permittedCrossDomainPolicies: false,
    xssFilter: false,
  };
}

/** What helmet sets: the same for every answer, so it is asked once. */
function headersFor(directives: Directives): [string, string][] {
  const headers = new Map<string, string>();
  const response = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader: (name: string) => headers.delete(name),
  };
  const request = {} as IncomingMessage;
  helmet(optionsFor(directives))(request, response as unknown as ServerResponse, (error) => {
    if (error) throw error as Error;
  });
  return [...headers];
}

/** Tells browsers what they must not do with an answer. */
export function securityHeadersMiddleware(docsPath: string) {
  const ofApi = headersFor(CLOSED);
  const ofDocs = headersFor(DOCS);
  return (request: Request, response: Response, next: NextFunction): void => {
    const headers = request.url.startsWith(docsPath) ? ofDocs : ofApi;
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}
