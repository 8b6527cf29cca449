import { HttpException } from '@nestjs/common';
import { fromDatabaseError } from './database-error';
import { DomainError, type ErrorKind } from './domain-error';

/** The one error body. `error` and `error_message` are the same sentence: clients read either. */
export interface ErrorBody {
  error: string;
  error_code: string;
  error_message: string;
  details: Readonly<Record<string, unknown>>;
  correlation_id: string;
}

export interface ErrorAnswer {
  status: number;
  body: ErrorBody;
  /** Null for a refusal, be it for load: that is in order. */
  fault: Fault | null;
}

/**
 * Who has to look at a failure: the operators of the platform, who need the stack, or those of a service that the user
 * named, who have done nothing here.
 */
export type Fault = 'ours' | 'upstream';

const STATUS: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  gone: 410,
  'too-large': 413,
  'unsupported-media': 415,
  'rate-limited': 429,
  // A service that the user named failed: clients know 500 only.
  upstream: 500,
  // What the platform keeps for the caller cannot be read: its operator has to look, so it is logged with its cause.
  damaged: 500,
  unavailable: 503,
  // More was asked for at once than there is room for: nothing is to be mended.
  busy: 503,
};

/**
 * Turns anything thrown into the answer of the operation.
 * @param listsConflict whether the operation's contract lists 409; broken state rules are 400 elsewhere.
 */
export function answerError(thrown: unknown, correlationId: string, listsConflict: boolean): ErrorAnswer {
  const error = toDomainError(thrown);
  if (!error) {
    const text = 'The request failed unexpectedly. Quote the correlation id when you report it.';
    return { status: 500, body: body(text, 'INTERNAL', {}, correlationId), fault: 'ours' };
  }
  const status = error.kind === 'conflict' && !listsConflict ? 400 : STATUS[error.kind];
  return { status, body: body(error.message, error.code, error.details, correlationId), fault: faultOf(error, status) };
}

function faultOf({ kind }: DomainError, status: number): Fault | null {
  if (kind === 'upstream') return 'upstream';
  return status >= 500 && kind !== 'busy' ? 'ours' : null;
}

function toDomainError(thrown: unknown): DomainError | null {
  if (thrown instanceof DomainError) return thrown;
  const fromDatabase = fromDatabaseError(thrown);
  if (fromDatabase) return fromDatabase;
  if (thrown instanceof HttpException) return fromHttpException(thrown);
  return fromParserError(thrown);
}

function fromHttpException(thrown: HttpException): DomainError {
  const status = thrown.getStatus();
  if (status === 404) return new DomainError('not-found', 'ROUTE.NOT_FOUND', 'There is no such operation.');
  if (status === 401) return new DomainError('unauthenticated', 'AUTH.UNAUTHENTICATED', thrown.message);
  if (status === 403) return new DomainError('forbidden', 'AUTH.FORBIDDEN', thrown.message);
  if (status === 413) return new DomainError('too-large', 'REQUEST.TOO_LARGE', thrown.message);
  return new DomainError('invalid', 'REQUEST.INVALID', thrown.message);
}

/** Errors of express' body parser carry a `type` and a status. */
function fromParserError(thrown: unknown): DomainError | null {
  if (!(thrown instanceof Error) || !('type' in thrown) || typeof thrown.type !== 'string') return null;
  switch (thrown.type) {
    case 'entity.parse.failed':
      return new DomainError('invalid', 'REQUEST.MALFORMED_JSON', `The body is not valid JSON: ${thrown.message}.`);
    case 'entity.too.large':
      return new DomainError('too-large', 'REQUEST.TOO_LARGE', 'The body is larger than this operation accepts.');
    case 'charset.unsupported':
    case 'encoding.unsupported':
      return new DomainError('unsupported-media', 'REQUEST.UNSUPPORTED_MEDIA', 'The body must be UTF-8 JSON.');
    case 'request.aborted':
    case 'request.size.invalid':
      return new DomainError('invalid', 'REQUEST.ABORTED', 'The body ended before its announced length.');
    default:
      return null;
  }
}

function body(message: string, code: string, details: ErrorBody['details'], correlationId: string): ErrorBody {
  return { error: message, error_code: code, error_message: message, details, correlation_id: correlationId };
}
