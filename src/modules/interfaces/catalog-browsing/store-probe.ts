import { randomUUID } from 'node:crypto';
import { type ObjectStore, ObjectStoreError } from '../../../../libs/object-storage/object-store';

/** The operations that a secret allows in a store. */
export interface StoreVerdict {
  list: boolean;
  read: boolean;
  write: boolean;
  problems: string[];
}

/**
 * Lists a directory, and writes, reads and deletes an object with a unique name in it. Deletes the object even if reading it
 * failed.
 */
export async function probeStore(store: ObjectStore, directory: string, signal: AbortSignal): Promise<StoreVerdict> {
  const problems: string[] = [];
  const attempt = async (operation: string, work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof ObjectStoreError)) throw error;
      problems.push(`${operation}: ${error.message}`);
      return false;
    }
  };
  const path = [directory, `.access-probe-${randomUUID()}`].filter(Boolean).join('/');
  const content = Buffer.from('Written to find out whether this secret may write here. It can be deleted.\n');
  const list = await attempt('listing', () => store.list(directory, { signal }));
  const written = await attempt('writing', () => store.put(path, content, { overwrite: false, signal }));
  const read = written && (await attempt('reading', () => readBack(store, path, content, signal)));
  // Without the signal, so that the object is deleted even after the timeout.
  const deleted = written && (await attempt('deleting', () => store.deleteFile(path)));
  return { list, read, write: written && deleted, problems };
}

async function readBack(store: ObjectStore, path: string, expected: Buffer, signal: AbortSignal): Promise<void> {
  const { stream } = await store.read(path, { signal });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > expected.length) break;
  }
  if (!Buffer.concat(chunks).equals(expected)) {
    throw new ObjectStoreError('REFUSED', 'The store returned something other than what was written.');
  }
}
