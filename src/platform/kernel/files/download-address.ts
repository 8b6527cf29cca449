import type { AddressOptions } from '../../../../libs/object-storage/object-store';
import { contentDisposition, DOWNLOAD_TYPE } from './content-disposition';

/** Minutes in which a download from an object store must begin. A client that has its address needs no permission. */
export const ADDRESS_VALID_MINUTES = 5;

/** Returns how an object store sends a file of this name to a client that it does not know. */
export function downloadAddress(name: string): AddressOptions {
  const validSeconds = ADDRESS_VALID_MINUTES * 60;
  return { contentDisposition: contentDisposition(name), contentType: DOWNLOAD_TYPE, validSeconds };
}
