import type { AddressOptions } from '../../../../libs/object-storage/object-store';
import { contentDisposition } from './content-disposition';

/** Minutes in which a download from an object store must begin. A client that has its address needs no permission. */
export const ADDRESS_VALID_MINUTES = 5;

/** Returns how an object store sends a file of this name to a client that it does not know. */
export function downloadAddress(name: string): AddressOptions {
  return { contentDisposition: contentDisposition(name), validSeconds: ADDRESS_VALID_MINUTES * 60 };
}
