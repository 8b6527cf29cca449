import { printable } from '../../object-storage/store-fault';
import { ComputeDriverError } from '../compute-driver';
import { type Meaning, meaningsByCode } from '../machines/meanings';
import { withoutControls } from '../call-faults';

/** What Oracle Cloud answers to a call that it does not do. */
export interface OciRefusal {
  status: number;
  /** Oracle's own code, such as `NotAuthorizedOrNotFound`; null of an answer that has none. */
  code: string | null;
  message: string;
  retryAfterMs: number | null;
}

const DENIED: Meaning = { kind: 'denied' };
const TRANSIENT: Meaning = { kind: 'transient' };

/** By Oracle's code; it decides before the status. */
const CODES = meaningsByCode([
  [{ kind: 'throttled' }, 'TooManyRequests'],
  [{ kind: 'quota', scope: 'region' }, 'LimitExceeded QuotaExceeded'],
  [DENIED, 'NotAuthenticated NotAuthorized NotAuthorizedOrNotFound NotAuthorizedOrResourceAlreadyExists'],
  [DENIED, 'RelatedResourceNotAuthorizedOrNotFound SignUpRequired'],
  [TRANSIENT, 'IncorrectState Conflict ExternalServerIncorrectState'],
  // The machine of that request has changed or ended; the next look at it says which.
  [TRANSIENT, 'InvalidatedRetryToken'],
]);

/** What a machine that nobody has room for is refused by: an error 500 like any other but for its words. */
const NO_CAPACITY = /out of (host )?capacity/i;

/** Codes that hide whether something is missing or only kept from the user. */
const AMBIGUOUS = new Set(['NotAuthorizedOrNotFound', 'RelatedResourceNotAuthorizedOrNotFound']);

/**
 * A refusal as the error of a driver, in Oracle's words.
 * @param secrets what must not be repeated, whatever the answer quotes
 */
export function ociFault({ status, code, message, retryAfterMs }: OciRefusal, secrets: readonly string[]) {
  const { kind, scope } = meaningOf(status, code, message);
  const reason = printable(withoutControls(message), secrets) || `Oracle Cloud answers ${status} without a reason.`;
  const hint =
    code !== null && AMBIGUOUS.has(code)
      ? ' Oracle Cloud does not say whether it does not exist or a policy that allows it is missing.'
      : '';
  // Machine-readable, and put into logs: nothing but a word.
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

/** Whether the answer says that there is nothing of that name, or nothing that may be seen. */
export function isMissing(error: unknown): boolean {
  return error instanceof ComputeDriverError && error.code === 'NotAuthorizedOrNotFound';
}

/** Whether it says that the resource is just doing something else. */
export function isBusy(error: unknown): boolean {
  return error instanceof ComputeDriverError && ['IncorrectState', 'Conflict'].includes(error.code);
}
