import { ObjectStoreError, type ObjectStoreErrorCode } from './object-store';

/** What an SDK's error says, in common terms. */
export interface ProviderFailure {
  /** HTTP status of the answer, where there was one. */
  status: number | undefined;
  /** The provider's own code, such as `NoSuchBucket`. */
  code: string | undefined;
  reason: string;
}

/** Codes of all three providers; none means different things to two of them. */
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
  // Another writer's commit took the blocks of this one.
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
  // Of answers without a body, which have no code.
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
  NOT_FOUND: 'The store has no such file',
  BUCKET_NOT_FOUND: 'The store has no such bucket',
  ALREADY_EXISTS: 'The file already exists',
  ACCESS_DENIED: 'The store denies this credential access',
  INVALID_CREDENTIALS: 'The store does not accept the credential',
  INVALID_REQUEST: 'The store does not accept this request',
  INVALID_RANGE: 'The range begins past the end of the file',
  SIZE_MISMATCH: 'The size is not the one announced',
  TOO_LARGE: 'The file is too large for the store',
  SOURCE_FAILED: 'The upload ended before all bytes had arrived',
  CANCELLED: 'The call was cancelled',
  ADDRESS_REFUSED: 'The endpoint may not be called',
  TIMEOUT: 'The store did not answer in time',
  UNAVAILABLE: 'The store cannot be reached or cannot answer',
  REFUSED: 'The store refused the request',
};

const MAX_REASON = 300;

/**
 * The error of a provider as ours: the code by the provider's code or else by the HTTP status, the message with the
 * provider's reason, cut to its first line and without any of the secrets.
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

/** A provider's reason for people: its first line, of bounded length and without any of the secrets. */
export function printable(reason: string, secrets: readonly string[]): string {
  let text = reason;
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '***');
  const [line = ''] = text.trim().split(/[\r\n]/, 1);
  // SDKs put words like these where the answer had no body.
  if (/^(Unknown(Error)?|NotFound|Error|undefined)?$/i.test(line)) return '';
  const short = line.length > MAX_REASON ? `${line.slice(0, MAX_REASON)}…` : line;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}

/** A text property of an error whose type is not known, searched through its causes. */
export function errorField(error: unknown, name: 'code' | 'message' | 'name'): string | undefined {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 5; depth += 1) {
    const value = (at as Record<string, unknown>)[name];
    if (typeof value === 'string' && value !== '') return value;
    at = (at as { cause?: unknown; errors?: unknown[] }).cause ?? (at as { errors?: unknown[] }).errors?.[0];
  }
  return undefined;
}
