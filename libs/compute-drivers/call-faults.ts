import { errorField } from '../object-storage/store-fault';
import { ResponseTooLongError } from '../outbound-policy/outbound-request';
import { ComputeDriverError } from './compute-driver';

/** Returns the fault of a call without a response: it timed out, the outbound policy forbids it, or the server is unreachable. */
export function connectionFault(host: string, error: unknown, signal: AbortSignal): ComputeDriverError {
  if (error instanceof ComputeDriverError) return error;
  if (signal.aborted) {
    const message = `${host} did not answer in time.`;
    return new ComputeDriverError('Timeout', message, { kind: 'transient', cause: error });
  }
  if (error instanceof ResponseTooLongError)
    return unexpectedResponse(host, `sent a response of more than ${error.maxBytes} bytes`, error);
  if (errorField(error, 'code') === 'ERR_ADDRESS_REFUSED') {
    const message = errorField(error, 'message') ?? `The outbound policy does not allow calls to ${host}.`;
    return new ComputeDriverError('AddressRefused', message, { kind: 'invalid', cause: error });
  }
  const code = errorField(error, 'code') ?? 'no connection';
  const message = `${host} cannot be reached (${withoutControls(code)}).`;
  return new ComputeDriverError('Unreachable', message, { kind: 'transient', cause: error });
}

/** Returns the fault of a response that the provider would not send, such as a proxy's page. */
export function unexpectedResponse(host: string, what: string, cause?: unknown): ComputeDriverError {
  return new ComputeDriverError('StrangeAnswer', `${host} ${what}.`, { kind: 'transient', cause });
}

/** Replaces control characters and those that change the direction of text by blanks. Line ends stay. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (one) => (one === '\n' || one === '\r' ? one : ' '));
}
