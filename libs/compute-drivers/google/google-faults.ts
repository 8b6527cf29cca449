import { errorField, printable } from '../../object-storage/store-fault';
import { ComputeDriverError, type FaultKind, type FaultScope } from '../compute-driver';
import { withoutControls } from '../no-answer';

/** What Google Cloud says in an answer or in an operation. */
interface GoogleFailure {
  /** HTTP status; null in an operation. */
  status: number | null;
  /** `reason` of an answer or `code` of an operation, such as `ZONE_RESOURCE_POOL_EXHAUSTED`. */
  code: string;
  message: string;
  retryAfterMs?: number | null;
}

type Class = readonly [FaultKind, FaultScope];

/** By code without case and underscores: answers write `quotaExceeded`, operations `QUOTA_EXCEEDED`. */
const CLASSES: Readonly<Record<string, Class>> = {
  zoneresourcepoolexhausted: ['capacity', 'zone'],
  zoneresourcepoolexhaustedwithdetails: ['capacity', 'zone'],
  resourcepoolexhausted: ['capacity', 'zone'],
  stockout: ['capacity', 'zone'],
  ipspaceexhausted: ['capacity', 'region'],
  ipspaceexhaustedwithdetails: ['capacity', 'region'],
  quotaexceeded: ['quota', 'region'],
  limitexceeded: ['quota', 'region'],
  ratelimitexceeded: ['throttled', 'account'],
  userratelimitexceeded: ['throttled', 'account'],
  concurrentoperationsquotaexceeded: ['throttled', 'account'],
  operationratelimitexceeded: ['throttled', 'account'],
  resourceoperationrateexceeded: ['throttled', 'account'],
  resourcenotready: ['transient', 'account'],
  resourceinusebyanotherresource: ['transient', 'account'],
  internalerror: ['transient', 'account'],
  vmmininstanceinternalerror: ['transient', 'account'],
  backenderror: ['transient', 'account'],
  permissionserror: ['denied', 'account'],
  forbidden: ['denied', 'account'],
  autherror: ['denied', 'account'],
  accessnotconfigured: ['denied', 'account'],
  // A policy of the organisation, which only its administrators can change.
  conditionnotmet: ['denied', 'account'],
};

/** Codes of a wrong user: the project and its network are no secret, but the key and the script are. */
export function googleFault(failure: GoogleFailure, secrets: readonly string[]): ComputeDriverError {
  const { status, code, message, retryAfterMs = null } = failure;
  const [kind, scope] = classOf(failure);
  // What is not a letter may come from anybody: answers quote what they refuse.
  const name = /^[A-Za-z][\w.-]{0,79}$/.test(code) ? code : `HTTP_${status ?? 'NONE'}`;
  const words = printable(withoutControls(message), secrets) || 'Google Cloud gives no reason.';
  const reach = kind === 'quota' && /\bglobally\b/i.test(message) ? 'account' : scope;
  return new ComputeDriverError(`GOOGLE.${name}`, words, { kind, scope: reach, retryAfterMs });
}

function classOf({ status, code }: GoogleFailure): Class {
  const known = CLASSES[code.replaceAll('_', '').toLowerCase()];
  if (known) return known;
  if (status === 429) return ['throttled', 'account'];
  if (status === 401 || status === 403) return ['denied', 'account'];
  if (status === 408 || status === 409 || status === 412 || (status !== null && status >= 500))
    return ['transient', 'account'];
  return ['invalid', 'account'];
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
    retryAfterMs: retryAfter(headers),
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

/** Seconds, or a time, of the answer's header. */
function retryAfter(headers: unknown): number | null {
  const value = textOf(headers instanceof Headers ? headers.get('retry-after') : recordOf(headers)['retry-after']);
  if (/^\d{1,6}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
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
