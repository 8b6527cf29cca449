import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';

/** Of answers that are no pages: nothing in them is to be run, shown in a frame, or sent on. */
const OF_API = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] },
  },
  frameguard: { action: 'deny' },
  // TLS ends in front of the process, which therefore cannot promise it.
  strictTransportSecurity: false,
});

/** Of the Swagger UI: its own files, which have styles in the page and pictures in the styles. */
const OF_DOCS = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  frameguard: { action: 'deny' },
  strictTransportSecurity: false,
});

/** Tells browsers what they must not do with an answer. */
export function securityHeadersMiddleware(docsPath: string) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const isOfDocs = request.path === docsPath || request.path.startsWith(`${docsPath}/`);
    (isOfDocs ? OF_DOCS : OF_API)(request, response, next);
  };
}
