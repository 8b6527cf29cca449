import { printable } from '../../object-storage/store-fault';
import { ComputeDriverError } from '../compute-driver';
import { type Meaning, meaningsByCode } from '../machines/meanings';
import { withoutControls } from '../call-faults';

/** An error response of Oracle Cloud. */
export interface OciRefusal {
  status: number;
  /** Oracle's code, such as `NotAuthorizedOrNotFound`; null if the response has none. */
  code: string | null;
  message: string;
  retryAfterMs: number | null;
}

const DENIED: Meaning = { kind: 'denied' };
const TRANSIENT: Meaning = { kind: 'transient' };

/** Meanings by Oracle's code. The code decides before the status. */
const CODES = meaningsByCode([
  [{ kind: 'throttled' }, 'TooManyRequests'],
  [{ kind: 'quota', scope: 'region' }, 'LimitExceeded QuotaExceeded'],
  [DENIED, 'NotAuthenticated NotAuthorized NotAuthorizedOrNotFound NotAuthorizedOrResourceAlreadyExists'],
  [DENIED, 'RelatedResourceNotAuthorizedOrNotFound SignUpRequired'],
  [TRANSIENT, 'IncorrectState Conflict ExternalServerIncorrectState'],
  // The machine of that request has changed or ended. The next lookup shows which.
  [TRANSIENT, 'InvalidatedRetryToken'],
]);

/** A lack of capacity has status 500 and can be recognized by its message only. */
const NO_CAPACITY = /out of (host )?capacity/i;

/** Codes of resources that do not exist or that the user may not see. */
const AMBIGUOUS = new Set(['NotAuthorizedOrNotFound', 'RelatedResourceNotAuthorizedOrNotFound']);

/**
 * Converts an error response into the error of a driver, with Oracle's message.
 * @param secrets values that are masked in the message
 */
export function ociFault({ status, code, message, retryAfterMs }: OciRefusal, secrets: readonly string[]) {
  const { kind, scope } = meaningOf(status, code, message);
  const reason =
    printable(withoutControls(message), secrets) || `Oracle Cloud refused the call with HTTP ${status} and no reason.`;
  const hint =
    code !== null && AMBIGUOUS.has(code)
      ? ' Either the resource does not exist, or no policy allows the user to access it; Oracle Cloud does not say which.'
      : '';
  // The code is machine-readable and logged, so it must be one word.
  const word = code !== null && /^\w{1,100}$/.test(code) ? code : `Http${status}`;
  return new ComputeDriverError(word, `${reason}${hint}`, { kind, scope, retryAfterMs });
}

function meaningOf(status: number, code: string | null, message: string): Meaning {
  if (status >= 500 && NO_CAPACITY.test(message)) return { kind: 'capacity', scope: 'zone' };
  const known = code === null ? undefined : CODES.get(code);
  if (known) return known;
  if (status === 429) return { kind: 'throttled' };
  if (status === 401 || status === 403) return DENIED;
  if (status === 409 || status === 412 || status >= 500) return TRANSIENT;
  return { kind: 'invalid' };
}

/** True if the resource does not exist or the user may not see it. */
export function isMissing(error: unknown): boolean {
  return error instanceof ComputeDriverError && error.code === 'NotAuthorizedOrNotFound';
}

/** True if the resource is changing. */
export function isBusy(error: unknown): boolean {
  return error instanceof ComputeDriverError && ['IncorrectState', 'Conflict'].includes(error.code);
}
