import { errorField } from '../object-storage/store-fault';
import { AnswerTooLongError } from '../outbound-policy/outbound-request';
import { ComputeDriverError } from './compute-driver';

/** The error of a call that got no answer: it took too long, the outbound policy forbids it, or nobody is there. */
export function connectionFault(host: string, error: unknown, signal: AbortSignal): ComputeDriverError {
  if (error instanceof ComputeDriverError) return error;
  if (signal.aborted) {
    const message = `${host} did not answer in the time that the call had.`;
    return new ComputeDriverError('Timeout', message, { kind: 'transient', cause: error });
  }
  if (error instanceof AnswerTooLongError)
    return unexpectedResponse(host, `answers with more than ${error.maxBytes} bytes`, error);
  if (errorField(error, 'code') === 'ERR_ADDRESS_REFUSED') {
    const message = errorField(error, 'message') ?? `${host} may not be called.`;
    return new ComputeDriverError('AddressRefused', message, { kind: 'invalid', cause: error });
  }
  const code = errorField(error, 'code') ?? 'no connection';
  const message = `${host} cannot be reached (${withoutControls(code)}).`;
  return new ComputeDriverError('Unreachable', message, { kind: 'transient', cause: error });
}

/** Something that answers, though not as the provider does. */
export function unexpectedResponse(host: string, what: string, cause?: unknown): ComputeDriverError {
  return new ComputeDriverError('StrangeAnswer', `${host} ${what}.`, { kind: 'transient', cause });
}

/** Control characters, and those that turn the direction of writing, are no words; line ends stay. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (one) => (one === '\n' || one === '\r' ? one : ' '));
}
