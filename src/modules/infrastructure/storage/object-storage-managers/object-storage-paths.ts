import { invalidPath, type PathLimits, pathOfNames } from '../../../../platform/kernel/files/file-path';
import { fileRoot } from './object-storage-managers.joins';

/** Fits the key limit of every provider, with the trailing slash of a directory. */
const LIMITS: PathLimits = { pathBytes: 1023, nameBytes: 1023 };

/**
 * Returns the path of an upload: `path` below `target_dir`. Throws 400 for names such as `..`, and for a file path with
 * a trailing slash. A leading slash in either refers to the root, as in `/note.txt`.
 */
export function destinationOf(path: string, targetDir: string | undefined, isDir: boolean): string {
  const directory = belowRoot(targetDir ?? '');
  const names = directory === '' ? [] : namesOf(directory, true);
  return pathOfNames([...names, ...namesOf(belowRoot(path), isDir)], LIMITS);
}

/**
 * Returns the path of an existing file or directory; empty for the root. It accepts more names than
 * {@link destinationOf}, because files that others put into the bucket can have any name.
 */
export function pathOf(requested: string): string {
  const path = belowRoot(requested);
  return path === '' ? '' : namesOf(path, true).join('/');
}

export function fullPathOf(path: string): string {
  return fileRoot() + path;
}

/** Accepts `/` for the root, and the `full_file_path` of responses. */
function belowRoot(requested: string): string {
  const root = fileRoot();
  const path = requested.slice(0, root.length).toLowerCase() === root ? requested.slice(root.length) : requested;
  return path.startsWith('/') ? path.slice(1) : path;
}

function namesOf(path: string, mayEndInSlash: boolean): string[] {
  const names = path.split('/');
  if (mayEndInSlash && names.length > 1 && names.at(-1) === '') names.pop();
  if (names.includes('')) throw invalidPath('A path must not contain empty names.');
  return names;
}
