import { errorField, printable } from '../../object-storage/store-fault';
import { ComputeDriverError } from '../compute-driver';
import { type Meaning, meaningsByCode } from '../machines/meanings';
import { unexpectedResponse, connectionFault, withoutControls } from '../call-faults';

const NO_CAPACITY_IN_ZONE: Meaning = { kind: 'capacity', scope: 'zone' };
const QUOTA: Meaning = { kind: 'quota', scope: 'region' };
const DENIED: Meaning = { kind: 'denied' };
const THROTTLED: Meaning = { kind: 'throttled', scope: 'region' };
const TRANSIENT: Meaning = { kind: 'transient' };

/** By EC2's code; it decides before the status: a lack of capacity is an error 500 like any other. */
const CODES = meaningsByCode([
  [THROTTLED, 'RequestLimitExceeded Throttling ThrottlingException EC2ThrottledException RequestThrottled'],
  [TRANSIENT, 'InternalError InternalFailure Unavailable ServiceUnavailable'],
  [TRANSIENT, 'IncorrectInstanceState IncorrectState VolumeInUse DependencyViolation'],
  // A look at the machines of the node tells what became of the first request.
  [TRANSIENT, 'IdempotentParameterMismatch'],
  [NO_CAPACITY_IN_ZONE, 'InsufficientInstanceCapacity InsufficientHostCapacity InsufficientReservedInstanceCapacity'],
  [NO_CAPACITY_IN_ZONE, 'InsufficientCapacity InsufficientVolumeCapacity InsufficientFreeAddressesInSubnet'],
  [NO_CAPACITY_IN_ZONE, 'SpotMaxPriceTooLow Unsupported'],
  [QUOTA, 'InstanceLimitExceeded VcpuLimitExceeded MaxSpotInstanceCountExceeded VolumeLimitExceeded'],
  [QUOTA, 'MaxIOPSLimitExceeded NetworkInterfaceLimitExceeded AddressLimitExceeded'],
  [DENIED, 'UnauthorizedOperation AuthFailure AccessDenied AccessDeniedException InvalidClientTokenId'],
  [DENIED, 'SignatureDoesNotMatch MissingAuthenticationToken ExpiredToken ExpiredTokenException RequestExpired'],
  [DENIED, 'OptInRequired PendingVerification Blocked'],
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
  return status >= 500 ? TRANSIENT : { kind: 'invalid' };
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
  if (status === undefined || signal.aborted) return connectionFault(host, error, signal);
  // A page of a proxy or of something else that answers there.
  if (NO_CODE.test(code)) return unexpectedResponse(host, `does not answer like EC2 (HTTP ${status})`, error);
  return ec2Fault(code, errorField(error, 'message') ?? '', status, secrets);
}

/** The request would never succeed. */
export function invalidLaunch(why: string): ComputeDriverError {
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
