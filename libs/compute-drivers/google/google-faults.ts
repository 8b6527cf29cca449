import { errorField, printable } from '../../object-storage/store-fault';
import { ComputeDriverError } from '../compute-driver';
import { type Meaning, meaningsByCode, retryAfterMs } from '../machines/meanings';
import { withoutControls } from '../call-faults';

/** Error of a response or of an operation of Google Cloud. */
interface GoogleFailure {
  /** HTTP status; null in an operation. */
  status: number | null;
  /** `reason` of a response or `code` of an operation, such as `ZONE_RESOURCE_POOL_EXHAUSTED`. */
  code: string;
  message: string;
  retryAfterMs?: number | null;
}

const NO_CAPACITY_IN_ZONE: Meaning = { kind: 'capacity', scope: 'zone' };
const NO_CAPACITY_IN_REGION: Meaning = { kind: 'capacity', scope: 'region' };
const QUOTA: Meaning = { kind: 'quota', scope: 'region' };
const THROTTLED: Meaning = { kind: 'throttled' };
const TRANSIENT: Meaning = { kind: 'transient' };
const DENIED: Meaning = { kind: 'denied' };

/** Meanings by code, in lower case without underscores: responses have `quotaExceeded`, operations `QUOTA_EXCEEDED`. */
const CODES = meaningsByCode([
  [
    NO_CAPACITY_IN_ZONE,
    'zoneresourcepoolexhausted zoneresourcepoolexhaustedwithdetails resourcepoolexhausted stockout',
  ],
  [NO_CAPACITY_IN_REGION, 'ipspaceexhausted ipspaceexhaustedwithdetails'],
  [QUOTA, 'quotaexceeded limitexceeded'],
  [THROTTLED, 'ratelimitexceeded userratelimitexceeded concurrentoperationsquotaexceeded'],
  [THROTTLED, 'operationratelimitexceeded resourceoperationrateexceeded'],
  [TRANSIENT, 'resourcenotready resourceinusebyanotherresource internalerror vmmininstanceinternalerror backenderror'],
  [DENIED, 'permissionserror forbidden autherror accessnotconfigured'],
  // An organization policy refused it, which only its administrators can change.
  [DENIED, 'conditionnotmet'],
]);

/** @param secrets values that are masked in the message, such as the key and the script */
export function googleFault(failure: GoogleFailure, secrets: readonly string[]): ComputeDriverError {
  const { status, code, message, retryAfterMs: waitMs = null } = failure;
  const { kind, scope } = meaningOf(failure);
  // A response may quote user input, so only a plain word is taken for a code.
  const name = /^[A-Za-z][\w.-]{0,79}$/.test(code) ? code : `HTTP_${status ?? 'NONE'}`;
  const words = printable(withoutControls(message), secrets) || 'Google Cloud refused the call without a reason.';
  const affected = kind === 'quota' && /\bglobally\b/i.test(message) ? 'account' : scope;
  return new ComputeDriverError(`GOOGLE.${name}`, words, { kind, scope: affected, retryAfterMs: waitMs });
}

function meaningOf({ status, code }: GoogleFailure): Meaning {
  const known = CODES.get(code.replaceAll('_', '').toLowerCase());
  if (known) return known;
  if (status === 429) return THROTTLED;
  if (status === 401 || status === 403) return DENIED;
  if (status === 408 || status === 409 || status === 412 || (status !== null && status >= 500)) return TRANSIENT;
  return { kind: 'invalid' };
}

/** Returns the fault of a failed operation; null if the operation succeeded or is still running. */
export function operationFault(
  operation: { error?: unknown; status?: unknown },
  secrets: readonly string[],
): ComputeDriverError | null {
  const { error, status } = operation;
  if (status !== 'DONE' || error === undefined || error === null) return null;
  const [first] = listOf(recordOf(error)['errors']);
  const { code, message } = recordOf(first);
  return googleFault({ status: null, code: textOf(code), message: textOf(message) }, secrets);
}

/** Converts the error of a call. The SDK's error is not kept as its cause, because it holds the request with signature and script. */
export function callFault(error: unknown, host: string, secrets: readonly string[]): ComputeDriverError {
  if (error instanceof ComputeDriverError) return error;
  const { response } = recordOf(error);
  if (response === undefined) return connectionFault(error, host, secrets);
  const { status, data, headers } = recordOf(response);
  const details = recordOf(recordOf(data)['error']);
  const [first] = listOf(details['errors']);
  const failure = {
    status: typeof status === 'number' ? status : 0,
    code: textOf(recordOf(first)['reason']) || textOf(details['status']),
    message: textOf(details['message']) || `${host} answered with HTTP ${String(status)}`,
    retryAfterMs: retryAfterMs(
      headers instanceof Headers ? headers.get('retry-after') : recordOf(headers)['retry-after'],
    ),
  };
  return googleFault(failure, secrets);
}

function connectionFault(error: unknown, host: string, secrets: readonly string[]): ComputeDriverError {
  const code = errorField(error, 'code') ?? '';
  const message = errorField(error, 'message') ?? '';
  if (code === 'ERR_ADDRESS_REFUSED')
    return new ComputeDriverError('GOOGLE.ADDRESS_REFUSED', printable(message, secrets), { kind: 'invalid' });
  const words = `${host} cannot be reached (${/^[A-Z_\d]{2,40}$/.test(code) ? code : 'the connection failed'}).`;
  return new ComputeDriverError('GOOGLE.UNAVAILABLE', words, { kind: 'transient' });
}

/** Returns a value of an unvalidated response as an object, which is empty if the value is none. */
export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
