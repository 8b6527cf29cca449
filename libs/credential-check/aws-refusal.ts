import { errorField } from '../object-storage/store-fault';
import { connectionFailure, ProviderUnreachableError } from './credential-check';

/** A refusal of a service with AWS's protocol. */
export interface AwsRefusal {
  /** The service's code, such as `SignatureDoesNotMatch`. */
  code: string;
  reason: string;
}

/** Codes that the SDK uses if a response has none or cannot be read. */
const NO_CODE = /^(Unknown(Error)?|Error|TypeError|SyntaxError|\d+)$/;

/** Codes of refusals that do not depend on the keys. */
const NOT_ABOUT_KEYS: ReadonlySet<string> = new Set(['RequestTimeTooSkewed', 'Throttling', 'ThrottlingException']);

/**
 * Returns why the service refused the keys. Throws if the error is not about the keys: without a response, with one of another
 * server, or if the service itself failed.
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
    throw new ProviderUnreachableError(server, `did not say whether the keys work (${said})`, { cause: error });
  }
  const message = errorField(error, 'message');
  return { code, reason: message === undefined || message === code ? code : `${code}: ${message}` };
}

/** True if the text can be part of the header of a signed request. */
export function isAccessKeyId(text: string): boolean {
  return /^[\x21-\x7e]{1,256}$/.test(text);
}

export const ACCESS_KEY_ID_INVALID = 'AWS_ACCESS_KEY_ID contains characters that an access key id cannot have.';
