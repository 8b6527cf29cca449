import { ObjectStoreError, type ObjectStoreErrorCode } from './object-store';

/** The content of an SDK's error, in terms that all providers share. */
export interface ProviderFailure {
  /** HTTP status of the response, if there was one. */
  status: number | undefined;
  /** The provider's own code, such as `NoSuchBucket`. */
  code: string | undefined;
  reason: string;
}

/** Codes of all three providers; no code has two meanings. */
const CODES: Readonly<Record<string, ObjectStoreErrorCode>> = {
  NoSuchBucket: 'BUCKET_NOT_FOUND',
  ContainerNotFound: 'BUCKET_NOT_FOUND',
  ContainerBeingDeleted: 'BUCKET_NOT_FOUND',
  NoSuchKey: 'NOT_FOUND',
  NotFound: 'NOT_FOUND',
  BlobNotFound: 'NOT_FOUND',
  PreconditionFailed: 'ALREADY_EXISTS',
  ConditionalRequestConflict: 'ALREADY_EXISTS',
  BlobAlreadyExists: 'ALREADY_EXISTS',
  conditionNotMet: 'ALREADY_EXISTS',
  InvalidAccessKeyId: 'INVALID_CREDENTIALS',
  SignatureDoesNotMatch: 'INVALID_CREDENTIALS',
  InvalidToken: 'INVALID_CREDENTIALS',
  ExpiredToken: 'INVALID_CREDENTIALS',
  TokenRefreshRequired: 'INVALID_CREDENTIALS',
  AuthenticationFailed: 'INVALID_CREDENTIALS',
  InvalidAuthenticationInfo: 'INVALID_CREDENTIALS',
  invalid_grant: 'INVALID_CREDENTIALS',
  invalid_client: 'INVALID_CREDENTIALS',
  unauthorized_client: 'INVALID_CREDENTIALS',
  AccessDenied: 'ACCESS_DENIED',
  AllAccessDisabled: 'ACCESS_DENIED',
  AuthorizationPermissionMismatch: 'ACCESS_DENIED',
  AuthorizationFailure: 'ACCESS_DENIED',
  AccountIsDisabled: 'ACCESS_DENIED',
  InvalidRange: 'INVALID_RANGE',
  InvalidBucketName: 'INVALID_REQUEST',
  InvalidResourceName: 'INVALID_REQUEST',
  KeyTooLongError: 'INVALID_REQUEST',
  InvalidArgument: 'INVALID_REQUEST',
  EntityTooLarge: 'TOO_LARGE',
  RequestBodyTooLarge: 'TOO_LARGE',
  SlowDown: 'UNAVAILABLE',
  ServerBusy: 'UNAVAILABLE',
  InternalError: 'UNAVAILABLE',
  // Another writer's commit has discarded the blocks of this upload.
  InvalidBlockList: 'UNAVAILABLE',
  NoSuchUpload: 'UNAVAILABLE',
  TimeoutError: 'TIMEOUT',
  ETIMEDOUT: 'TIMEOUT',
  ESOCKETTIMEDOUT: 'TIMEOUT',
  OperationTimedOut: 'TIMEOUT',
  RequestTimeout: 'TIMEOUT',
  ERR_ADDRESS_REFUSED: 'ADDRESS_REFUSED',
};

const STATUSES: Readonly<Record<number, ObjectStoreErrorCode>> = {
  // Responses without a body have no code.
  400: 'INVALID_REQUEST',
  401: 'INVALID_CREDENTIALS',
  403: 'ACCESS_DENIED',
  404: 'NOT_FOUND',
  408: 'TIMEOUT',
  412: 'ALREADY_EXISTS',
  413: 'TOO_LARGE',
  416: 'INVALID_RANGE',
  429: 'UNAVAILABLE',
};

const SENTENCES: Readonly<Record<ObjectStoreErrorCode, string>> = {
  NOT_FOUND: 'The file does not exist in the object store',
  BUCKET_NOT_FOUND: 'The bucket does not exist in the object store',
  ALREADY_EXISTS: 'The file already exists',
  ACCESS_DENIED: 'The object store denies access with this credential',
  INVALID_CREDENTIALS: 'The object store does not accept the credential',
  INVALID_REQUEST: 'The object store does not accept the request',
  INVALID_RANGE: 'The range begins past the end of the file',
  SIZE_MISMATCH: 'The upload does not have the announced size',
  TOO_LARGE: 'The file is too large for the object store',
  SOURCE_FAILED: 'The upload ended before all bytes had arrived',
  CANCELLED: 'The call was cancelled',
  ADDRESS_REFUSED: 'The endpoint may not be called',
  TIMEOUT: 'The object store did not answer in time',
  UNAVAILABLE: 'The object store cannot be reached or failed',
  REFUSED: 'The object store refused the request',
};

const MAX_REASON_LENGTH = 300;

/**
 * Translates the error of a provider. The code follows from the provider's code or else from the HTTP status; the message
 * holds the first line of the provider's reason, without any of the secrets.
 */
export function storeFault(failure: ProviderFailure, secrets: readonly string[], cause: unknown): ObjectStoreError {
  const code = failureCode(failure);
  const reason = printable(failure.reason, secrets);
  const message = reason === '' ? `${SENTENCES[code]}.` : `${SENTENCES[code]}: ${reason}`;
  return new ObjectStoreError(code, message, { cause });
}

function failureCode({ status, code }: ProviderFailure): ObjectStoreErrorCode {
  const known = code === undefined ? undefined : CODES[code];
  if (known) return known;
  if (status === undefined) return 'UNAVAILABLE';
  if (status >= 500 && status !== 501) return 'UNAVAILABLE';
  return STATUSES[status] ?? 'REFUSED';
}

/** Returns the first line of a provider's reason, of bounded length and without any of the secrets. */
export function printable(reason: string, secrets: readonly string[]): string {
  let text = reason;
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '***');
  const [line = ''] = text.trim().split(/[\r\n]/, 1);
  // SDKs use words like these if the response has no body.
  if (/^(Unknown(Error)?|NotFound|Error|undefined)?$/i.test(line)) return '';
  const short = line.length > MAX_REASON_LENGTH ? `${line.slice(0, MAX_REASON_LENGTH)}…` : line;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}

/** Returns a text property of an unknown error or of the first of its causes that has it. */
export function errorField(error: unknown, name: 'code' | 'message' | 'name'): string | undefined {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 5; depth += 1) {
    const value = (at as Record<string, unknown>)[name];
    if (typeof value === 'string' && value !== '') return value;
    at = (at as { cause?: unknown; errors?: unknown[] }).cause ?? (at as { errors?: unknown[] }).errors?.[0];
  }
  return undefined;
}
