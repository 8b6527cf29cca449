import { ObjectStoreError, type ObjectStoreErrorCode } from '../../../../../libs/object-storage/object-store';
import { DomainError, type ErrorKind } from '../../../../platform/kernel/errors/domain-error';

/** What the failures of a store are to a client: mostly a wrong configuration, sometimes the store's own trouble. */
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
 * A store's error becomes a refusal with its reason; any other error, also one of the content to store, stays as it is.
 */
export function fromStore(error: unknown): unknown {
  if (!(error instanceof ObjectStoreError)) return error;
  if (error.cause instanceof DomainError) return error.cause;
  return new DomainError(KINDS[error.code], `OBJECT_STORAGE.${error.code}`, error.message, {}, { cause: error });
}
