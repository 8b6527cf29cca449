import { errorField, printable } from '../object-storage/store-fault';
import { MetastoreError, type MetastoreFault } from './metastore-client';

/** The error of a connection that failed, or of an answer that broke off. */
export function connectionFault(server: string, error: unknown): MetastoreError {
  if (error instanceof MetastoreError) return error;
  const code = errorField(error, 'code') ?? 'the connection failed';
  if (code === 'ERR_ADDRESS_REFUSED') {
    return new MetastoreError('unreachable', errorField(error, 'message') ?? `${server} may not be called.`);
  }
  if (code.startsWith('HPE_')) return new MetastoreError('failed', `${server} does not answer with HTTP.`);
  return new MetastoreError('unreachable', `${server} cannot be reached (${code}).`);
}

/**
 * A refusal in the words of who refuses: the first line, of bounded length.
 * @param secrets what is never repeated, whatever the words quote
 */
export function refusal(
  fault: MetastoreFault,
  server: string,
  words: string,
  secrets: readonly string[],
): MetastoreError {
  const said = printable(words, secrets);
  return new MetastoreError(fault, said === '' ? `${server} gives no reason.` : `${server}: ${said}`);
}
