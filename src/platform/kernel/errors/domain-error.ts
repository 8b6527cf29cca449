/** What went wrong, in the domain's terms; `error-answer.ts` turns it into an HTTP status. */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'gone'
  | 'timeout'
  | 'unprocessable'
  | 'late'
  | 'too-large'
  | 'unsupported-media'
  | 'head-too-large'
  | 'misdirected'
  | 'upgrade-required'
  | 'rate-limited'
  | 'upstream'
  | 'damaged'
  | 'overloaded'
  | 'unavailable';

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

/** What `fn` gives, or the domain error that it throws. */
export function orRefusal<T>(fn: () => T): T | DomainError {
  try {
    return fn();
  } catch (error) {
    return asRefusal(error);
  }
}

/** The error if it is a refusal; throws any other. */
export function asRefusal(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  throw error;
}

const RETRY_AFTER_SECONDS = 1;

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

/** 429: the caller already has as many at once as one may; it may be tried again soon, or after the given seconds. */
export function tooMany(code: string, message: string, retryAfterSeconds = RETRY_AFTER_SECONDS): DomainError {
  return new DomainError('rate-limited', code, message, { retry_after_seconds: retryAfterSeconds });
}

/**
 * 503: the process already does as much at once as it can; the request may be sent again soon, or after the given
 * seconds.
 */
export function overloaded(code: string, message: string, retryAfterSeconds = RETRY_AFTER_SECONDS): DomainError {
  return new DomainError('overloaded', code, message, { retry_after_seconds: retryAfterSeconds });
}

/** 503: a part that the platform cannot do without does not answer; it may be tried again after the given seconds. */
export function unavailable(code: string, message: string, retryAfterSeconds: number): DomainError {
  return new DomainError('unavailable', code, message, { retry_after_seconds: retryAfterSeconds });
}

/** 401. */
export function unauthenticated(message: string): DomainError {
  return new DomainError('unauthenticated', 'AUTH.UNAUTHENTICATED', message);
}
