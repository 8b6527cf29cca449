import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { normalizePath } from '../../../../platform/kernel/files/file-path';
import { fileRoot } from '../../../infrastructure/storage';

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

/** An archive, and the folder that it names behind `#` to be unpacked to; null if that is named like the file. */
export function splitArchive(text: string): { file: string; alias: string | null } {
  const at = text.lastIndexOf('#');
  // Spark itself reads those of a URI.
  if (at < 0 || parseFileReference(text).kind === 'uri') return { file: text, alias: null };
  return { file: text.slice(0, at), alias: text.slice(at + 1) };
}

/** Throws a 400 for a folder that an archive cannot be unpacked to. */
export function assertArchiveFolder(text: string): void {
  const { alias } = splitArchive(text);
  if (alias === null || (/^[\w.-]{1,255}$/.test(alias) && !/^\.{1,2}$/.test(alias))) return;
  throw invalid('JOB_CONF.INVALID_ARCHIVE', `The archive "${text}" names no folder behind "#" that it could have.`);
}

/** Throws a 400 for a URI that Spark would take for several: it joins lists of files by commas, and knows no escape of one. */
export function assertOneFile(text: string): void {
  const reference = parseFileReference(text);
  if (reference.kind !== 'uri' || !reference.uri.includes(',')) return;
  throw invalid(
    'JOB_CONF.INVALID_FILE',
    `"${text}" has a comma, which divides files in Spark's lists. Name each file by itself, or one without a comma.`,
  );
}

/** Throws a 400 for a keytab that neither the workspace, nor an object storage manager, nor the node has. */
export function assertKeytab(text: string): void {
  const reference = parseFileReference(text);
  if (reference.kind !== 'uri' || /^file:/i.test(reference.uri)) return;
  throw invalid(
    'JOB_CONF.INVALID_KEYTAB',
    `The keytab "${text}" must be a file of the workspace, or file:/// of the node.`,
  );
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
