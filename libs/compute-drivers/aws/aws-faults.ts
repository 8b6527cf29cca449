import { errorField, printable } from '../../object-storage/store-fault';
import { ComputeDriverError } from '../compute-driver';
import { type Meaning, meaningsByCode } from '../machines/meanings';
import { unexpectedResponse, connectionFault, withoutControls } from '../call-faults';

const NO_CAPACITY_IN_ZONE: Meaning = { kind: 'capacity', scope: 'zone' };
const QUOTA: Meaning = { kind: 'quota', scope: 'region' };
const DENIED: Meaning = { kind: 'denied' };
const THROTTLED: Meaning = { kind: 'throttled', scope: 'region' };
const TRANSIENT: Meaning = { kind: 'transient' };

/** Meanings by EC2's code. The code decides before the status, because a lack of capacity has status 500. */
const CODES = meaningsByCode([
  [THROTTLED, 'RequestLimitExceeded Throttling ThrottlingException EC2ThrottledException RequestThrottled'],
  [TRANSIENT, 'InternalError InternalFailure Unavailable ServiceUnavailable'],
  [TRANSIENT, 'IncorrectInstanceState IncorrectState VolumeInUse DependencyViolation'],
  // The next lookup of the node's machines shows the result of the first request.
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

/** Codes that the SDK uses if a response has none or cannot be read. */
const NO_CODE = /^(Unknown(Error)?|Error|TypeError|SyntaxError|\d+)$/;

/** EC2 adds some kilobytes to a policy's refusal that only the owner of the account can decode. */
const ENCODED = /\s*Encoded authorization failure message:[\s\S]*/i;

/**
 * Converts an error of EC2 into the error of a driver.
 * @param secrets values that are masked in the message
 */
export function ec2Fault(code: string, message: string, status: number, secrets: readonly string[]) {
  const { kind, scope } = CODES.get(code) ?? byStatus(status);
  const reason =
    printable(withoutControls(message.replace(ENCODED, '')), secrets) ||
    `EC2 refused the call with HTTP ${status} and no reason.`;
  // The code is machine-readable and logged, so it must be one word.
  const word = /^[\w.]{1,100}$/.test(code) ? code : `Http${status}`;
  return new ComputeDriverError(word, `${word}: ${reason}`, { kind, scope });
}

function byStatus(status: number): Meaning {
  if (status === 429 || status === 503) return THROTTLED;
  if (status === 401 || status === 403) return DENIED;
  return status >= 500 ? TRANSIENT : { kind: 'invalid' };
}

/** Converts any error that the SDK throws. */
export function faultOf(error: unknown, host: string, signal: AbortSignal, secrets: readonly string[]) {
  if (error instanceof ComputeDriverError) return error;
  const { $metadata: metadata, $response: response } = Object(error) as {
    $metadata?: { httpStatusCode?: number };
    $response?: { statusCode?: number };
  };
  const status = metadata?.httpStatusCode ?? response?.statusCode;
  const code = errorField(error, 'name') ?? 'Unknown';
  if (status === undefined || signal.aborted) return connectionFault(host, error, signal);
  // The response is from a proxy or another server.
  if (NO_CODE.test(code))
    return unexpectedResponse(host, `sent a response that is not from EC2 (HTTP ${status})`, error);
  return ec2Fault(code, errorField(error, 'message') ?? '', status, secrets);
}

/** Returns the fault of a spec of which EC2 can launch no machine. */
export function invalidLaunch(why: string): ComputeDriverError {
  return new ComputeDriverError('InvalidRequest', `EC2 cannot launch this node: ${why}.`, { kind: 'invalid' });
}

/** True if EC2 does not know the resource. */
export function isMissing(error: unknown): boolean {
  return error instanceof ComputeDriverError && /\.(NotFound|Malformed)$/.test(error.code);
}

/** True if the resource is changing or in use. */
export function isBusy(error: unknown): boolean {
  return (
    error instanceof ComputeDriverError &&
    ['IncorrectInstanceState', 'IncorrectState', 'VolumeInUse', 'DependencyViolation'].includes(error.code)
  );
}
