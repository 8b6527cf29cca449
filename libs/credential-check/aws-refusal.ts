import { errorField } from '../object-storage/store-fault';
import { connectionFailure, ProviderUnreachableError } from './credential-check';

/** A refusal of a service that speaks one of AWS's protocols. */
export interface AwsRefusal {
  /** The service's own word, such as `SignatureDoesNotMatch`. */
  code: string;
  reason: string;
}

/** Codes that the SDK makes up where the answer had none or cannot be read. */
const NO_CODE = /^(Unknown(Error)?|Error|TypeError|SyntaxError|\d+)$/;

/** Refusals that are not about the caller. */
const NOT_ABOUT_KEYS: ReadonlySet<string> = new Set(['RequestTimeTooSkewed', 'Throttling', 'ThrottlingException']);

/**
 * What an SDK's error says about the keys; throws when it says nothing about them: without an answer, with one that is
 * not the service's, and when the service itself has trouble.
 * @param server host and port
 */
export function awsRefusal(error: unknown, server: string): AwsRefusal {
  const { $metadata: metadata, $response: response } = Object(error) as {
    $metadata?: { httpStatusCode?: number };
    $response?: { statusCode?: number };
  };
  const status = metadata?.httpStatusCode ?? response?.statusCode;
  if (status === undefined) throw connectionFailure(server, error);
  const code = errorField(error, 'name') ?? 'Unknown';
  const refused = [400, 401, 403].includes(status);
  if (!refused || NO_CODE.test(code) || NOT_ABOUT_KEYS.has(code)) {
    const said = NO_CODE.test(code) ? `HTTP ${status}` : `HTTP ${status}, ${code}`;
    throw new ProviderUnreachableError(server, `does not say whether the keys are right (${said})`, { cause: error });
  }
  const message = errorField(error, 'message');
  return { code, reason: message === undefined || message === code ? code : `${code}: ${message}` };
}

/** What can stand in the header of a signed request. */
export function isAccessKeyId(text: string): boolean {
  return /^[\x21-\x7e]{1,256}$/.test(text);
}

export const ACCESS_KEY_ID_INVALID = 'AWS_ACCESS_KEY_ID contains characters that an access key cannot have.';
