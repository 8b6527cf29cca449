// The errors of the client. Handle them by class or by `code`, which is stable; messages may change.

/** Base class of all errors of this package. */
export class ManagedSparkError extends Error {
  override name = 'ManagedSparkError';

  constructor(message: string, options?: ErrorOptions) {
    // Messages and reasons can come from other users, and Node prints those of an uncaught error to the terminal unchanged.
    super(printable(message), options);
  }
}

/** The settings for the connection are missing or not valid. */
export class ConfigurationError extends ManagedSparkError {
  override name = 'ConfigurationError';
}

/** The platform did not answer, or the connection broke, until the retries were exhausted. */
export class Unreachable extends ManagedSparkError {
  override name = 'Unreachable';
}

/** A wait exceeded its timeout. What it waited for continues. */
export class DeadlineExceeded extends ManagedSparkError {
  override name = 'DeadlineExceeded';
}

/** The platform refused a request. */
export class ApiError extends ManagedSparkError {
  override name = 'ApiError';
  readonly status: number;
  /** Stable error code, such as `CLUSTER.INVALID_STATE`; empty if a proxy answered instead of the platform. */
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** Identifies the request in the logs of the platform. */
  readonly correlationId: string;
  /** The message of the platform, without the code. */
  readonly reason: string;

  constructor(refusal: Refusal) {
    super(refusal.code ? `${refusal.code}: ${refusal.reason}` : refusal.reason);
    this.status = refusal.status;
    this.code = refusal.code;
    this.reason = refusal.reason;
    this.details = refusal.details;
    this.correlationId = refusal.correlationId;
  }
}

export interface Refusal {
  status: number;
  code: string;
  reason: string;
  details: Record<string, unknown>;
  correlationId: string;
}

/** 400, 413, 415 or 422: the request itself is not valid. */
export class Invalid extends ApiError {
  override name = 'Invalid';
}

/** 401: there is no valid token or session. */
export class Unauthenticated extends ApiError {
  override name = 'Unauthenticated';
}

/** 403: the user lacks a permission, which the message names. */
export class Forbidden extends ApiError {
  override name = 'Forbidden';
}

/** 404: the tenant has no such record. */
export class NotFound extends ApiError {
  override name = 'NotFound';
}

/** 409: the state of a record does not allow it, or a name is taken. */
export class Conflict extends ApiError {
  override name = 'Conflict';
}

/** 429 or 503, after the retries: there are too many requests, or a system that the platform needs does not respond. */
export class Overloaded extends ApiError {
  override name = 'Overloaded';
}

/** The code of a function raised an exception. */
export class FunctionFailed extends Invalid {
  override name = 'FunctionFailed';

  /** The class of the exception. */
  get type(): string {
    return text(this.details['type']);
  }

  /** Lines of the function's own code that led to the exception. */
  get lines(): string[] {
    const { lines } = this.details;
    return Array.isArray(lines) ? lines.map(text) : [];
  }
}

const CLASSES: Readonly<Record<number, typeof ApiError>> = {
  400: Invalid,
  401: Unauthenticated,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  413: Invalid,
  415: Invalid,
  422: Invalid,
  429: Overloaded,
  503: Overloaded,
};

/** Returns the error of an answer. A proxy may have answered, so the body need not be the platform's. */
export function refusalOf(status: number, body: unknown): ApiError {
  const known = asRecord(body);
  const code = text(known['error_code']);
  const Kind = code === 'FUNCTION.FAILED' ? FunctionFailed : (CLASSES[status] ?? ApiError);
  return new Kind({
    status,
    code,
    reason: text(known['error_message']) || `The platform answered ${status}.`,
    details: asRecord(known['details']),
    correlationId: text(known['correlation_id']),
  });
}

/** Replaces control characters, with which text could hide output, rename the terminal or type commands; keeps line breaks and tabs. */
function printable(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, ' ');
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
