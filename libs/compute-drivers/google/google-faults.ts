import { errorField, printable } from '../../object-storage/store-fault';
import { ComputeDriverError } from '../compute-driver';
import { type Meaning, meaningsByCode, retryAfterMs } from '../machines/meanings';
import { withoutControls } from '../call-faults';

/** What Google Cloud says in an answer or in an operation. */
interface GoogleFailure {
  /** HTTP status; null in an operation. */
  status: number | null;
  /** `reason` of an answer or `code` of an operation, such as `ZONE_RESOURCE_POOL_EXHAUSTED`. */
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

/** By code without case and underscores: answers write `quotaExceeded`, operations `QUOTA_EXCEEDED`. */
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
  // A policy of the organisation, which only its administrators can change.
  [DENIED, 'conditionnotmet'],
]);

/** Codes of a wrong user: the project and its network are no secret, but the key and the script are. */
export function googleFault(failure: GoogleFailure, secrets: readonly string[]): ComputeDriverError {
  const { status, code, message, retryAfterMs: waitMs = null } = failure;
  const { kind, scope } = meaningOf(failure);
  // What is not a letter may come from anybody: answers quote what they refuse.
  const name = /^[A-Za-z][\w.-]{0,79}$/.test(code) ? code : `HTTP_${status ?? 'NONE'}`;
  const words = printable(withoutControls(message), secrets) || 'Google Cloud gives no reason.';
  const reach = kind === 'quota' && /\bglobally\b/i.test(message) ? 'account' : scope;
  return new ComputeDriverError(`GOOGLE.${name}`, words, { kind, scope: reach, retryAfterMs: waitMs });
}

function meaningOf({ status, code }: GoogleFailure): Meaning {
  const known = CODES.get(code.replaceAll('_', '').toLowerCase());
  if (known) return known;
  if (status === 429) return THROTTLED;
  if (status === 401 || status === 403) return DENIED;
  if (status === 408 || status === 409 || status === 412 || (status !== null && status >= 500)) return TRANSIENT;
  return { kind: 'invalid' };
}

/** The fault of an operation that failed; null for one that did not, or that goes on. */
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

/** The error of a call as ours. The SDK's own is no cause of it: that has the request, with the key's signature and the script. */
export function callFault(error: unknown, host: string, secrets: readonly string[]): ComputeDriverError {
  if (error instanceof ComputeDriverError) return error;
  const { response } = recordOf(error);
  if (response === undefined) return connectionFault(error, host, secrets);
  const { status, data, headers } = recordOf(response);
  const answer = recordOf(recordOf(data)['error']);
  const [first] = listOf(answer['errors']);
  const failure = {
    status: typeof status === 'number' ? status : 0,
    code: textOf(recordOf(first)['reason']) || textOf(answer['status']),
    message: textOf(answer['message']) || `${host} answers HTTP ${String(status)}`,
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

/** An answer may have any shape. */
export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
