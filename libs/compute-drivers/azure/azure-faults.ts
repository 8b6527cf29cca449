import { errorField, printable } from '../../object-storage/store-fault';
import { ComputeDriverError } from '../compute-driver';
import { type Meaning, meaningsByCode, retryAfterMs } from '../machines/meanings';

/** Azure reserves a network interface this long for the machine whose creation failed. */
const RESERVED_CARD_RETRY_MS = 180_000;
/** Resources to which a machine refers are usually provisioned by then. */
const NOT_PROVISIONED_RETRY_MS = 3_000;
const BUSY_RETRY_MS = 5_000;

const TRANSIENT: Meaning = { kind: 'transient' };
const BUSY: Meaning = { kind: 'transient', retryAfterMs: BUSY_RETRY_MS };
const DENIED: Meaning = { kind: 'denied' };
const INVALID: Meaning = { kind: 'invalid' };
const NO_CAPACITY: Meaning = { kind: 'capacity', scope: 'region' };
const NO_CAPACITY_IN_ZONE: Meaning = { kind: 'capacity', scope: 'zone' };
const QUOTA: Meaning = { kind: 'quota', scope: 'region' };
const THROTTLED: Meaning = { kind: 'throttled' };

const CODES = meaningsByCode([
  [THROTTLED, 'TooManyRequests SubscriptionRequestsThrottled ResourceRequestsThrottled'],
  [NO_CAPACITY, 'AllocationFailed OverconstrainedAllocationRequest AllocationTimedOut SubnetIsFull'],
  [NO_CAPACITY_IN_ZONE, 'ZonalAllocationFailed OverconstrainedZonalAllocationRequest SkuNotAvailable'],
  [QUOTA, 'QuotaExceeded ResourceQuotaExceeded'],
  [BUSY, 'AnotherOperationInProgress CanceledAndSupersededDueToAnotherOperation OperationPreempted'],
  [BUSY, 'NicInUse PublicIPAddressCannotBeDeleted DiskInUse AttachDiskWhileBeingDetached ResourceIsBeingDeleted'],
  [BUSY, 'RetryableError RetryableErrorDueToAnotherOperation'],
  [{ kind: 'transient', retryAfterMs: NOT_PROVISIONED_RETRY_MS }, 'ReferencedResourceNotProvisioned'],
  [{ kind: 'transient', retryAfterMs: RESERVED_CARD_RETRY_MS }, 'NicReservedForAnotherVm'],
  [TRANSIENT, 'InternalServerError InternalOperationError InternalExecutionError NetworkingInternalOperationError'],
  [TRANSIENT, 'StorageInternalError ServerTimeout GatewayTimeout'],
  [DENIED, 'AuthorizationFailed LinkedAuthorizationFailed LinkedAccessCheckFailed AuthenticationFailed'],
  [DENIED, 'InvalidAuthenticationToken InvalidAuthenticationTokenTenant ExpiredAuthenticationToken'],
  [DENIED, 'SubscriptionNotFound InvalidSubscriptionId ReadOnlyDisabledSubscription'],
  [DENIED, 'DisallowedOperation RequestDisallowedByPolicy ScopeLocked'],
  // These have status 409 like a conflict, but last until somebody registers the subscription.
  [DENIED, 'MissingSubscriptionRegistration SubscriptionNotRegistered'],
]);

/** Message for a disk that is not detached from its machine yet. */
const ATTACHED = /\bis attached to VM\b/i;

/** Codes of Azure's directory when it is overloaded or down. */
const DIRECTORY_TROUBLE: ReadonlySet<string> = new Set(['AADSTS90033', 'AADSTS90055', 'AADSTS50196']);

const CERTIFICATE_CODE = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|CERT_.*|UNABLE_TO_.*|ERR_TLS_.*)$/;

export interface FaultContext {
  server: string;
  /** Values that are masked in messages. */
  secrets: readonly string[];
}

/** Returns the meaning of a code. The message decides if the code has several meanings. */
function meaningOf(code: string, words: string): Meaning | null {
  if (code === 'OperationNotAllowed') {
    if (ATTACHED.test(words)) return BUSY;
    return /quota|limit/i.test(words) ? QUOTA : INVALID;
  }
  if (/(LimitReached|LimitExceeded|QuotaExceeded)$/.test(code)) return QUOTA;
  return CODES.get(code) ?? null;
}

function meaningOfStatus(status: number): Meaning {
  if (status === 429) return THROTTLED;
  if (status === 401 || status === 403) return DENIED;
  if (status === 408 || status >= 500) return TRANSIENT;
  // Another request is changing the same resource.
  if (status === 409) return BUSY;
  return INVALID;
}

/** Returns a message of the provider as one limited line without secrets and control characters. */
export function printableLine(words: string, secrets: readonly string[]): string {
  return printable(words, secrets).replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ');
}

function fault(code: string, words: string, meaning: Meaning, cause?: unknown): ComputeDriverError {
  const { kind, scope, retryAfterMs: waitMs = null } = meaning;
  return new ComputeDriverError(code, words, { kind, ...(scope && { scope }), retryAfterMs: waitMs, cause });
}

/** Converts an error of the SDK. */
export function azureFault(error: unknown, context: FaultContext): ComputeDriverError {
  if (error instanceof ComputeDriverError) return error;
  const code = errorField(error, 'code') ?? '';
  const message = errorField(error, 'message') ?? '';
  const { statusCode, response } = Object(error) as {
    statusCode?: unknown;
    response?: { headers?: { get?(name: string): unknown } };
  };
  const refusedLogin = loginFault(message, context);
  if (refusedLogin) return refusedLogin;
  if (typeof statusCode !== 'number') return connectionFault(code, message, error, context);
  const name = validCode(code, `HTTP ${statusCode}`);
  const found = meaningOf(name, message) ?? meaningOfStatus(statusCode);
  const laterMs = retryAfterMs(response?.headers?.get?.('retry-after'));
  const mayWait = found.kind === 'throttled' || found.kind === 'transient';
  const meaning = mayWait && laterMs !== null ? { ...found, retryAfterMs: laterMs } : found;
  const words = printableLine(message, context.secrets);
  return fault(
    `AZURE.${name}`,
    words === '' ? `Azure refused the call (${name}).` : `Azure refused the call (${name}): ${words}`,
    meaning,
  );
}

/** Returns the fault of a login that Azure's directory refused; null for another error. */
function loginFault(message: string, { secrets }: FaultContext): ComputeDriverError | null {
  const [code] = /AADSTS\d{1,10}/.exec(message) ?? [];
  if (code === undefined) return null;
  const words = printableLine(message.slice(message.indexOf(code)), secrets);
  const kind = DIRECTORY_TROUBLE.has(code) ? 'transient' : 'denied';
  return fault(`AZURE.${code}`, `Azure refused the login of the service principal: ${words}`, { kind });
}

function connectionFault(
  code: string,
  message: string,
  cause: unknown,
  { server, secrets }: FaultContext,
): ComputeDriverError {
  if (code === 'ERR_ADDRESS_REFUSED') return fault(`AZURE.${code}`, printableLine(message, secrets), INVALID);
  if (CERTIFICATE_CODE.test(code))
    return fault(`AZURE.${code}`, `The certificate of ${server} is not trusted (${code}).`, INVALID);
  const what = /^[A-Z_]{1,40}$/.test(code) ? `cannot be reached (${code})` : 'sent a response that is not from Azure';
  return fault('AZURE.NO_ANSWER', `${server} ${what}.`, TRANSIENT, cause);
}

/** Returns the code if it has the form of Azure's codes, or the fallback. */
function validCode(code: string, otherwise: string): string {
  return /^[A-Za-z0-9_.]{1,80}$/.test(code) ? code : otherwise;
}

/** Returns the fault of a machine whose creation or start failed after Azure accepted it. */
export function statusFault(code: string, message: string, secrets: readonly string[]): ComputeDriverError {
  const name = validCode(code, 'Failed');
  const words = printableLine(message, secrets);
  return fault(`AZURE.${name}`, words === '' ? name : `${name}: ${words}`, meaningOf(name, message) ?? INVALID);
}

const IN_USE: ReadonlySet<string> = new Set([
  'AZURE.NicInUse',
  'AZURE.PublicIPAddressCannotBeDeleted',
  'AZURE.DiskInUse',
]);

/** True if Azure refuses to remove a resource because another one still uses it. */
export function isInUse(error: ComputeDriverError): boolean {
  return IN_USE.has(error.code) || (error.code === 'AZURE.OperationNotAllowed' && ATTACHED.test(error.message));
}

export function invalidRequest(message: string): ComputeDriverError {
  return fault('AZURE.INVALID', message, INVALID);
}
