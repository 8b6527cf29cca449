import { errorField, printable } from '../../object-storage/store-fault';
import { ComputeDriverError, type FaultKind, type FaultScope } from '../compute-driver';
import { strangeAnswer, unanswered, withoutControls } from '../no-answer';

interface Meaning {
  kind: FaultKind;
  scope?: FaultScope;
}

const IN_ZONE: Meaning = { kind: 'capacity', scope: 'zone' };
const QUOTA: Meaning = { kind: 'quota', scope: 'region' };
const DENIED: Meaning = { kind: 'denied' };
const THROTTLED: Meaning = { kind: 'throttled', scope: 'region' };
const AGAIN: Meaning = { kind: 'transient' };

/** By EC2's code; it decides before the status: a lack of capacity is an error 500 like any other. */
const CODES: ReadonlyMap<string, Meaning> = new Map([
  ['RequestLimitExceeded', THROTTLED],
  ['Throttling', THROTTLED],
  ['ThrottlingException', THROTTLED],
  ['EC2ThrottledException', THROTTLED],
  ['RequestThrottled', THROTTLED],
  ['InternalError', AGAIN],
  ['InternalFailure', AGAIN],
  ['Unavailable', AGAIN],
  ['ServiceUnavailable', AGAIN],
  ['IncorrectInstanceState', AGAIN],
  ['IncorrectState', AGAIN],
  ['VolumeInUse', AGAIN],
  ['DependencyViolation', AGAIN],
  // A look at the machines of the node tells what became of the first request.
  ['IdempotentParameterMismatch', AGAIN],
  ['InsufficientInstanceCapacity', IN_ZONE],
  ['InsufficientHostCapacity', IN_ZONE],
  ['InsufficientReservedInstanceCapacity', IN_ZONE],
  ['InsufficientCapacity', IN_ZONE],
  ['InsufficientVolumeCapacity', IN_ZONE],
  ['InsufficientFreeAddressesInSubnet', IN_ZONE],
  ['SpotMaxPriceTooLow', IN_ZONE],
  ['Unsupported', IN_ZONE],
  ['InstanceLimitExceeded', QUOTA],
  ['VcpuLimitExceeded', QUOTA],
  ['MaxSpotInstanceCountExceeded', QUOTA],
  ['VolumeLimitExceeded', QUOTA],
  ['MaxIOPSLimitExceeded', QUOTA],
  ['NetworkInterfaceLimitExceeded', QUOTA],
  ['AddressLimitExceeded', QUOTA],
  ['UnauthorizedOperation', DENIED],
  ['AuthFailure', DENIED],
  ['AccessDenied', DENIED],
  ['AccessDeniedException', DENIED],
  ['InvalidClientTokenId', DENIED],
  ['SignatureDoesNotMatch', DENIED],
  ['MissingAuthenticationToken', DENIED],
  ['ExpiredToken', DENIED],
  ['ExpiredTokenException', DENIED],
  ['RequestExpired', DENIED],
  ['OptInRequired', DENIED],
  ['PendingVerification', DENIED],
  ['Blocked', DENIED],
]);

/** Codes that the SDK makes up where the answer had none or cannot be read. */
const NO_CODE = /^(Unknown(Error)?|Error|TypeError|SyntaxError|\d+)$/;

/** Of a refusal by policy, EC2 adds some kilobytes that only the owner of the account can read. */
const ENCODED = /\s*Encoded authorization failure message:[\s\S]*/i;

/**
 * What EC2 says, as the error of a driver.
 * @param secrets what must not be repeated, whatever the answer quotes
 */
export function ec2Fault(code: string, message: string, status: number, secrets: readonly string[]) {
  const { kind, scope } = CODES.get(code) ?? byStatus(status);
  const reason =
    printable(withoutControls(message.replace(ENCODED, '')), secrets) || `EC2 answers ${status} without a reason.`;
  // Machine-readable, and put into logs: nothing but a word.
  const word = /^[\w.]{1,100}$/.test(code) ? code : `Http${status}`;
  return new ComputeDriverError(word, `${word}: ${reason}`, { kind, scope });
}

function byStatus(status: number): Meaning {
  if (status === 429 || status === 503) return THROTTLED;
  if (status === 401 || status === 403) return DENIED;
  return status >= 500 ? AGAIN : { kind: 'invalid' };
}

/** The error of a call, whatever the SDK threw. */
export function faultOf(error: unknown, host: string, signal: AbortSignal, secrets: readonly string[]) {
  if (error instanceof ComputeDriverError) return error;
  const { $metadata: metadata, $response: response } = Object(error) as {
    $metadata?: { httpStatusCode?: number };
    $response?: { statusCode?: number };
  };
  const status = metadata?.httpStatusCode ?? response?.statusCode;
  const code = errorField(error, 'name') ?? 'Unknown';
  if (status === undefined || signal.aborted) return unanswered(host, error, signal);
  // A page of a proxy or of something else that answers there.
  if (NO_CODE.test(code)) return strangeAnswer(host, `does not answer like EC2 (HTTP ${status})`, error);
  return ec2Fault(code, errorField(error, 'message') ?? '', status, secrets);
}

/** The request would never succeed. */
export function refused(why: string): ComputeDriverError {
  return new ComputeDriverError('InvalidRequest', `The machine cannot be made at AWS: ${why}.`, { kind: 'invalid' });
}

/** Whether EC2 says that there is no such thing. */
export function isMissing(error: unknown): boolean {
  return error instanceof ComputeDriverError && /\.(NotFound|Malformed)$/.test(error.code);
}

/** Whether EC2 says that it is just doing something else with it. */
export function isBusy(error: unknown): boolean {
  return (
    error instanceof ComputeDriverError &&
    ['IncorrectInstanceState', 'IncorrectState', 'VolumeInUse', 'DependencyViolation'].includes(error.code)
  );
}
