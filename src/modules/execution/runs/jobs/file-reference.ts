import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { normalizePath } from '../../../../platform/kernel/files/file-path';
import { fileRoot } from '../../../infrastructure/storage';

/** A file that the node's agent fetches from the API. It is in the run's workspace or in the cluster's object storage manager. */
export type StagedFile = { kind: 'workspace' | 'object-storage'; path: string };

/** A file of a job: a URI that Spark reads itself, or a file that the agent fetches. */
export type FileReference = { kind: 'uri'; uri: string } | StagedFile;

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Parses a file in `command`, `files`, `jars` and similar settings. The path is literal: it has no escapes. */
export function parseFileReference(text: string): FileReference {
  const root = fileRoot();
  if (text.toLowerCase().startsWith(root)) return { kind: 'object-storage', path: text.slice(root.length) };
  if (SCHEME.test(text)) return { kind: 'uri', uri: text };
  return { kind: 'workspace', path: text.replace(/^\/+/, '') };
}

/** Splits `archive#folder` into the file and the folder to unpack it to, which is null if the text names none. */
export function splitArchive(text: string): { file: string; alias: string | null } {
  const at = text.lastIndexOf('#');
  // Spark itself unpacks an archive at a URI.
  if (at < 0 || parseFileReference(text).kind === 'uri') return { file: text, alias: null };
  return { file: text.slice(0, at), alias: text.slice(at + 1) };
}

/** Throws a 400 if the folder after `#` is not a valid name. */
export function assertArchiveFolder(text: string): void {
  const { alias } = splitArchive(text);
  if (alias === null || (/^[\w.-]{1,255}$/.test(alias) && !/^\.{1,2}$/.test(alias))) return;
  throw invalid(
    'JOB_CONF.INVALID_ARCHIVE',
    `The folder after "#" in the archive "${text}" is invalid. Use 1 to 255 letters, digits, ".", "_" or "-", but not "." or "..".`,
  );
}

/** Throws a 400 for a URI with a comma: Spark separates the files of a list by commas and has no escape, so it would see several. */
export function assertOneFile(text: string): void {
  const reference = parseFileReference(text);
  if (reference.kind !== 'uri' || !reference.uri.includes(',')) return;
  throw invalid(
    'JOB_CONF.INVALID_FILE',
    `"${text}" has a comma, which separates files in Spark's lists. Give each file its own entry, and rename files whose URI has a comma.`,
  );
}

/** Throws a 400 for a keytab at a URI other than `file:`. */
export function assertKeytab(text: string): void {
  const reference = parseFileReference(text);
  if (reference.kind !== 'uri' || /^file:/i.test(reference.uri)) return;
  throw invalid(
    'JOB_CONF.INVALID_KEYTAB',
    `The keytab "${text}" must be a file of the workspace, or a file:/// URI of a file on the node.`,
  );
}

export function assertInWorkspace(text: string): void {
  const reference = parseFileReference(text);
  if (reference.kind === 'workspace') normalizePath(reference.path);
}

/** Throws a 400 if a file is in an object storage manager and the cluster has none. */
export function assertReachable(texts: readonly string[], hasObjectStorage: boolean): void {
  const unreachable = texts.find((text) => parseFileReference(text).kind === 'object-storage');
  if (hasObjectStorage || unreachable === undefined) return;
  throw invalid(
    'JOB.FILE_UNAVAILABLE',
    `"${unreachable}" is in an object storage manager, but the cluster has none. Set one in the cluster, or use a file of the workspace.`,
  );
}
