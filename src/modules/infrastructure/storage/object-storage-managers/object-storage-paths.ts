import { invalidPath, type PathLimits, pathOfNames } from '../../../../platform/kernel/files/file-path';
import { fileRoot } from './object-storage-managers.joins';

/** A key of every provider, with the slash that a directory's ends in. */
const LIMITS: PathLimits = { pathBytes: 1023, nameBytes: 1023 };

/**
 * Path of an upload: `target_dir` and then `path`. Throws a 400 for names that lead elsewhere, and for a file whose
 * path ends like a directory's. A leading slash of either means the root, as in `/note.txt`, and so does `/` alone as a
 * `target_dir`.
 */
export function destinationOf(path: string, targetDir: string | undefined, isDir: boolean): string {
  const directory = belowRoot(targetDir ?? '');
  const names = directory === '' ? [] : namesOf(directory, true);
  return pathOfNames([...names, ...namesOf(belowRoot(path), isDir)], LIMITS);
}

/**
 * Path by which a request names something that exists; empty for the root. Less is refused than for what is to be
 * created: files that others put into the bucket can have any name.
 */
export function pathOf(given: string): string {
  const path = belowRoot(given);
  return path === '' ? '' : namesOf(path, true).join('/');
}

export function fullPathOf(path: string): string {
  return fileRoot() + path;
}

/** Clients may name the root by a slash, and send back what answers call `full_file_path`. */
function belowRoot(given: string): string {
  const root = fileRoot();
  const path = given.slice(0, root.length).toLowerCase() === root ? given.slice(root.length) : given;
  return path.startsWith('/') ? path.slice(1) : path;
}

function namesOf(path: string, mayEndInSlash: boolean): string[] {
  const names = path.split('/');
  if (mayEndInSlash && names.length > 1 && names.at(-1) === '') names.pop();
  if (names.includes('')) throw invalidPath('A path must not contain empty names.');
  return names;
}
