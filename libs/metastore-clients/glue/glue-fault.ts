import { errorField } from '../../object-storage/store-fault';
import { MetastoreError, type MetastoreFault } from '../metastore-client';
import { connectionFault, refusal } from '../metastore-fault';

const FAULTS: readonly (readonly [RegExp, MetastoreFault])[] = [
  [/^(AccessDenied|ExpiredToken|RequestExpired|UnrecognizedClient|NotAuthorized|OptInRequired)/, 'denied'],
  [/^(InvalidSignature|SignatureDoesNotMatch|IncompleteSignature|MissingAuthenticationToken)/, 'denied'],
  [/^(InvalidClientTokenId|InvalidAccessKeyId)/, 'denied'],
  [/^EntityNotFound/, 'missing'],
  [/^(Throttl|TooManyRequests|RequestLimitExceeded|RequestThrottled|ServiceUnavailable|SlowDown)/, 'unreachable'],
  [/^OperationTimeout/, 'timeout'],
  [/^(UnknownOperation|OperationNotSupported)/, 'unsupported'],
];

const STATUSES: Readonly<Record<number, MetastoreFault>> = {
  401: 'denied',
  403: 'denied',
  429: 'unreachable',
  502: 'unreachable',
  503: 'unreachable',
  504: 'unreachable',
};

/** The SDK's names for errors whose responses contain no name. */
const NO_NAME = /^(Unknown(Error)?|Error|TypeError|SyntaxError|RangeError|GlueServiceException|\d+)$/;

/**
 * Translates an error of the SDK by the name that Glue gives it. The SDK's error is not the cause, since it holds the
 * response.
 */
export function glueFault(server: string, error: unknown, secrets: readonly string[]): MetastoreError {
  if (error instanceof MetastoreError) return error;
  const { $metadata: metadata, $response: response } = Object(error) as {
    $metadata?: { httpStatusCode?: number };
    $response?: { statusCode?: number };
  };
  const status = metadata?.httpStatusCode ?? response?.statusCode;
  if (status === undefined) return connectionFault(server, error);
  const name = errorField(error, 'name') ?? 'Unknown';
  if (NO_NAME.test(name)) {
    const fault = STATUSES[status] ?? 'failed';
    return new MetastoreError(fault, `${server} does not answer like AWS Glue (HTTP ${status}).`);
  }
  const fault = FAULTS.find(([known]) => known.test(name))?.[1] ?? STATUSES[status] ?? 'failed';
  const message = errorField(error, 'message') ?? '';
  return refusal(fault, server, message === '' || message === name ? name : `${name}: ${message}`, secrets);
}
