/** What went wrong, in the domain's terms; `error-answer.ts` turns it into an HTTP status. */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'gone'
  | 'too-large'
  | 'unsupported-media'
  | 'rate-limited'
  | 'upstream'
  | 'damaged'
  | 'unavailable'
  | 'busy';

/** A refusal with a stable code (`CLUSTER.INVALID_STATE`) and one sentence for people. */
export class DomainError extends Error {
  constructor(
    readonly kind: ErrorKind,
    readonly code: string,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'DomainError';
  }
}

type Details = Readonly<Record<string, unknown>>;

/** 400: the request itself is wrong. */
export function invalid(code: string, message: string, details?: Details): DomainError {
  return new DomainError('invalid', code, message, details);
}

/** 404: absent, or another tenant's. */
export function notFound(code: string, message: string, details?: Details): DomainError {
  return new DomainError('not-found', code, message, details);
}

/** A broken state rule, a duplicate or a record still in use: 409 where the operation lists it, else 400. */
export function conflict(code: string, message: string, details?: Details): DomainError {
  return new DomainError('conflict', code, message, details);
}

/** 403: the caller lacks a role, a permission or a tenant. */
export function forbidden(code: string, message: string, details?: Details): DomainError {
  return new DomainError('forbidden', code, message, details);
}

/** 503: more is asked for at once than there is room for. */
export function busy(code: string, retryAfterSeconds: number): DomainError {
  const text = `The server has more to do than it can at the moment. Try again in ${retryAfterSeconds} seconds.`;
  return new DomainError('busy', code, text, { retry_after_seconds: retryAfterSeconds });
}

/** 401. */
export function unauthenticated(message: string): DomainError {
  return new DomainError('unauthenticated', 'AUTH.UNAUTHENTICATED', message);
}
