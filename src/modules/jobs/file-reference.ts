import { invalid } from '../../platform/errors/domain-error';
import { normalizePath } from '../../platform/files/file-path';
import { fileRoot } from '../object-storage-managers/object-storage-managers.contract';

/** A file that the node's agent fetches from the API: of the run's workspace, or of the cluster's object storage manager. */
export type StagedFile = { kind: 'workspace' | 'object-storage'; path: string };

/** Where a job's file is: a URI that Spark reads itself, or a file to fetch. */
export type FileReference = { kind: 'uri'; uri: string } | StagedFile;

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Reads a file named by `command`, `files`, `jars` and the like; the path is taken as it is, without escapes. */
export function parseFileReference(text: string): FileReference {
  const root = fileRoot();
  if (text.toLowerCase().startsWith(root)) return { kind: 'object-storage', path: text.slice(root.length) };
  if (SCHEME.test(text)) return { kind: 'uri', uri: text };
  return { kind: 'workspace', path: text.replace(/^\/+/, '') };
}

/** Throws a 400 if a file's path could lead out of its workspace. */
export function assertInWorkspace(text: string): void {
  const reference = parseFileReference(text);
  if (reference.kind === 'workspace') normalizePath(reference.path);
}

/** Throws a 400 that names the first file which a cluster without an object storage manager cannot reach. */
export function assertReachable(texts: readonly string[], hasObjectStorage: boolean): void {
  const unreachable = texts.find((text) => parseFileReference(text).kind === 'object-storage');
  if (hasObjectStorage || unreachable === undefined) return;
  throw invalid('JOB.FILE_UNAVAILABLE', `"${unreachable}" is in an object storage manager, but the cluster has none.`);
}
