import { ObjectStoreError, type ObjectStoreErrorCode } from '../../../../../libs/object-storage/object-store';
import { DomainError, type ErrorKind } from '../../../../platform/kernel/errors/domain-error';

/** Maps store errors to kinds of domain errors: most are wrong configuration, some are failures of the store. */
const KINDS: Record<ObjectStoreErrorCode, ErrorKind> = {
  NOT_FOUND: 'not-found',
  BUCKET_NOT_FOUND: 'invalid',
  ALREADY_EXISTS: 'conflict',
  ACCESS_DENIED: 'invalid',
  INVALID_CREDENTIALS: 'invalid',
  INVALID_REQUEST: 'invalid',
  INVALID_RANGE: 'invalid',
  SIZE_MISMATCH: 'invalid',
  TOO_LARGE: 'too-large',
  SOURCE_FAILED: 'invalid',
  CANCELLED: 'invalid',
  ADDRESS_REFUSED: 'invalid',
  TIMEOUT: 'upstream',
  UNAVAILABLE: 'upstream',
  REFUSED: 'upstream',
};

/**
 * Converts an error of a store to a domain error. Other errors, including those of the uploaded content, are returned
 * unchanged.
 */
export function fromStore(error: unknown): unknown {
  if (!(error instanceof ObjectStoreError)) return error;
  if (error.cause instanceof DomainError) return error.cause;
  return new DomainError(KINDS[error.code], `OBJECT_STORAGE.${error.code}`, error.message, {}, { cause: error });
}
