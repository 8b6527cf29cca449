/** Kind of an error in the domain's terms; `error-response.ts` converts it to an HTTP status. */
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
  | 'out-of-range'
  | 'head-too-large'
  | 'misdirected'
  | 'upgrade-required'
  | 'rate-limited'
  | 'upstream'
  | 'damaged'
  | 'overloaded'
  | 'unavailable';

/** An error with a stable code (`CLUSTER.INVALID_STATE`) and a message for people. */
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

/** Returns the result of `fn`, or the domain error that it throws. */
export function orRefusal<T>(fn: () => T): T | DomainError {
  try {
    return fn();
  } catch (error) {
    return asRefusal(error);
  }
}

/** Returns a domain error, and throws any other. */
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

/** 400 about one field of the request, which the details name as the validation of a request does. */
export function invalidField(field: string, code: string, message: string): DomainError {
  return invalid(code, message, { fields: { [field]: [message] } });
}

/** 404: the record does not exist, or it belongs to another tenant. */
export function notFound(code: string, message: string, details?: Details): DomainError {
  return new DomainError('not-found', code, message, details);
}

/** A broken state rule, a duplicate or a record in use: 409 if the operation lists this status, else 400. */
export function conflict(code: string, message: string, details?: Details): DomainError {
  return new DomainError('conflict', code, message, details);
}

/** 403: the caller lacks a role, a permission or a tenant. */
export function forbidden(code: string, message: string, details?: Details): DomainError {
  return new DomainError('forbidden', code, message, details);
}

/** 429: the caller has reached a limit of its own. It may try again after these seconds. */
export function tooMany(code: string, message: string, retryAfterSeconds = RETRY_AFTER_SECONDS): DomainError {
  return new DomainError('rate-limited', code, message, { retry_after_seconds: retryAfterSeconds });
}

/** 503: the process has reached a limit. The caller may try again after these seconds. */
export function overloaded(code: string, message: string, retryAfterSeconds = RETRY_AFTER_SECONDS): DomainError {
  return new DomainError('overloaded', code, message, { retry_after_seconds: retryAfterSeconds });
}

/** 503: a system that the platform depends on does not respond. The caller may try again after these seconds. */
export function unavailable(code: string, message: string, retryAfterSeconds: number): DomainError {
  return new DomainError('unavailable', code, message, { retry_after_seconds: retryAfterSeconds });
}

/** 401: the token is missing or not valid. */
export function unauthenticated(message: string): DomainError {
  return new DomainError('unauthenticated', 'AUTH.UNAUTHENTICATED', message);
}
