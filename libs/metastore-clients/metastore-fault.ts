import { errorField, printable } from '../object-storage/store-fault';
import { MetastoreError, type MetastoreFault } from './metastore-client';

/** Translates the error of a failed connection or an interrupted response. */
export function connectionFault(server: string, error: unknown): MetastoreError {
  if (error instanceof MetastoreError) return error;
  const code = errorField(error, 'code') ?? 'the connection failed';
  if (code === 'ERR_ADDRESS_REFUSED') {
    return new MetastoreError(
      'unreachable',
      errorField(error, 'message') ?? `The outbound policy does not allow calls to ${server}.`,
    );
  }
  if (code.startsWith('HPE_'))
    return new MetastoreError('failed', `${server} does not answer in HTTP. Check the endpoint of the catalog.`);
  return new MetastoreError('unreachable', `${server} cannot be reached (${code}).`);
}

/**
 * Returns an error with the first line of the server's own words, of bounded length.
 * @param secrets removed from the words
 */
export function refusal(
  fault: MetastoreFault,
  server: string,
  words: string,
  secrets: readonly string[],
): MetastoreError {
  const reason = printable(words, secrets);
  return new MetastoreError(
    fault,
    reason === '' ? `${server} refused the call without a reason.` : `${server}: ${reason}`,
  );
}
