import { HttpException } from '@nestjs/common';
import { fromDatabaseError } from './database-error';
import { DomainError, type ErrorKind } from './domain-error';

/** Body of every error. `error` and `error_message` are the same text, because clients read either. */
export interface ErrorBody {
  error: string;
  error_code: string;
  error_message: string;
  details: Readonly<Record<string, unknown>>;
  correlation_id: string;
}

export interface ErrorResponse {
  status: number;
  body: ErrorBody;
  /** Null for a normal refusal. */
  fault: Fault | null;
}

/**
 * Says who has to look at a failure: `ours` the platform's operators, who need the stack; `upstream` those of a service that
 * the user chose; `load` nobody at once.
 */
export type Fault = 'ours' | 'upstream' | 'load';

const STATUS: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  timeout: 408,
  gone: 410,
  // The caller's own code failed on the request.
  unprocessable: 422,
  late: 504,
  'too-large': 413,
  'unsupported-media': 415,
  'out-of-range': 416,
  'head-too-large': 431,
  misdirected: 421,
  'upgrade-required': 426,
  'rate-limited': 429,
  // A service that the user chose failed. Clients know no other status than 500 for it.
  upstream: 500,
  // Stored data of the caller cannot be read. The operator has to look at it, so it is logged with its cause.
  damaged: 500,
  overloaded: 503,
  unavailable: 503,
};

/**
 * Converts any thrown value to the response of the operation.
 * @param listsConflict true if the operation's contract lists 409; otherwise broken state rules are 400
 */
export function toErrorResponse(thrown: unknown, correlationId: string, listsConflict: boolean): ErrorResponse {
  const error = toDomainError(thrown);
  if (!error) {
    const text = 'The request failed unexpectedly. Quote the correlation id when you report it.';
    return { status: 500, body: body(text, 'INTERNAL', {}, correlationId), fault: 'ours' };
  }
  const status = error.kind === 'conflict' && !listsConflict ? 400 : STATUS[error.kind];
  return { status, body: body(error.message, error.code, error.details, correlationId), fault: faultOf(error, status) };
}

function faultOf({ kind }: DomainError, status: number): Fault | null {
  if (kind === 'upstream' || kind === 'late') return 'upstream';
  if (kind === 'overloaded') return 'load';
  return status >= 500 ? 'ours' : null;
}

function toDomainError(thrown: unknown): DomainError | null {
  if (thrown instanceof DomainError) return thrown;
  const fromDatabase = fromDatabaseError(thrown);
  if (fromDatabase) return fromDatabase;
  return thrown instanceof HttpException ? fromHttpException(thrown) : null;
}

function fromHttpException(thrown: HttpException): DomainError {
  const status = thrown.getStatus();
  if (status === 404) return new DomainError('not-found', 'ROUTE.NOT_FOUND', 'There is no such operation.');
  if (status === 401) return new DomainError('unauthenticated', 'AUTH.UNAUTHENTICATED', thrown.message);
  if (status === 403) return new DomainError('forbidden', 'AUTH.FORBIDDEN', thrown.message);
  if (status === 413) return new DomainError('too-large', 'REQUEST.TOO_LARGE', thrown.message);
  return new DomainError('invalid', 'REQUEST.INVALID', thrown.message);
}

function body(message: string, code: string, details: ErrorBody['details'], correlationId: string): ErrorBody {
  return { error: message, error_code: code, error_message: message, details, correlation_id: correlationId };
}
