import { invalid } from '../../platform/errors/domain-error';
import { fileRoot } from '../object-storage-managers/object-storage-managers.contract';

/** Where a job's file is: a URI Spark reads itself, or a path in the run's workspace. */
export type FileReference = { kind: 'uri'; uri: string } | { kind: 'workspace'; path: string };

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Reads a file named by `command`, `files`, `jars` and the like. */
export function parseFileReference(text: string): FileReference {
  if (text.toLowerCase().startsWith(fileRoot())) {
    throw invalid('JOB.FILE_UNAVAILABLE', `"${text}" lies in an object storage manager, and the cluster has none.`);
  }
  if (SCHEME.test(text)) return { kind: 'uri', uri: text };
  return { kind: 'workspace', path: text.replace(/^\/+/, '') };
}
