import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import helmet, { type HelmetOptions } from 'helmet';

type Directives = Record<string, string[]>;

/** Browsers must load, run and frame nothing. */
const CLOSED: Directives = {
  defaultSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/** The Swagger UI loads its own files. It has inline styles, and images in its styles. */
const DOCS: Directives = {
  ...CLOSED,
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
};

export const CONTENT_SECURITY_POLICY = 'Content-Security-Policy';

const CONSOLE: Directives = {
  ...CLOSED,
  scriptSrc: ["'self'"],
  imgSrc: ["'self'", 'data:', 'blob:'],
  fontSrc: ["'self'"],
  connectSrc: ["'self'"],
  frameSrc: ["'self'"],
  formAction: ["'self'"],
  // Nothing may make scripts or markup of texts. The default policy of the console admits only text for its own style sheets, and
  // DOMPurify only what it has cleaned.
  requireTrustedTypesFor: ["'script'"],
  trustedTypes: ['default', 'dompurify'],
};

/**
 * The markup of an output of a notebook was made by a job. Its page is sandboxed by its own answer, in a frame or without one: it has an opaque
 * origin, so its scripts reach neither the console nor the API, and it loads nothing.
 */
const OUTPUT: Directives = {
  ...CLOSED,
  scriptSrc: ["'unsafe-inline'", "'unsafe-eval'"],
  styleSrc: ["'unsafe-inline'"],
  imgSrc: ['data:', 'blob:'],
  fontSrc: ['data:'],
  mediaSrc: ['data:', 'blob:'],
  frameAncestors: ["'self'"],
  sandbox: ['allow-scripts'],
};

/** Returns the policy of the page that shows the markup of an output. */
export function outputPolicy(): string {
  return policyOf(OUTPUT);
}

/** Returns the policy of a page of the console, whose own style sheets have the nonce. */
export function consolePolicy(nonce: string): string {
  return policyOf({ ...CONSOLE, styleSrc: ["'self'", `'nonce-${nonce}'`] });
}

function policyOf(directives: Directives): string {
  return new Map(headersFor(directives)).get(CONTENT_SECURITY_POLICY) ?? '';
}

function optionsFor(directives: Directives): HelmetOptions {
  return {
    contentSecurityPolicy: { useDefaults: false, directives },
    frameguard: { action: 'deny' },
    // TLS ends at a proxy, so the process cannot promise it.
    strictTransportSecurity: false,
    // The following headers matter only for outdated pages and browsers.
    originAgentCluster: false,
    dnsPrefetchControl: false,
    ieNoOpen: false,
    permittedCrossDomainPolicies: false,
    xssFilter: false,
  };
}

/** Returns the headers that helmet sets. They are the same for every response, so helmet is called only once. */
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

/** Sets the security headers of every response. */
export function securityHeadersMiddleware(docsPath: string) {
  const apiHeaders = headersFor(CLOSED);
  const docsHeaders = headersFor(DOCS);
  return (request: Request, response: Response, next: NextFunction): void => {
    const headers = request.url.startsWith(docsPath) ? docsHeaders : apiHeaders;
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}
