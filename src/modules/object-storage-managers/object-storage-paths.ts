import { invalidPath, type PathLimits, pathOfNames } from '../../platform/files/file-path';
import { fileRoot } from './object-storage-managers.contract';

/** A key of every provider, with the slash that a directory's ends in. */
const LIMITS: PathLimits = { pathBytes: 1023, nameBytes: 1023 };

/**
 * Path of an upload: `target_dir` and then `path`. Throws a 400 for an absolute path, for names that lead elsewhere, and
 * for a file whose path ends as a directory's does. A `target_dir` of `/` is the root.
 */
export function destinationOf(path: string, targetDir: string | undefined, isDir: boolean): string {
  const directory = targetDir === undefined ? '' : withoutRoot(targetDir);
  const names = directory === '' || directory === '/' ? [] : namesOf(directory, true);
  return pathOfNames([...names, ...namesOf(withoutRoot(path), isDir)], LIMITS);
}

/**
 * Path by which a request names what is there already; empty for the root. Less is refused than of what is to be made:
 * files that others put into the bucket have any names.
 */
export function pathOf(given: string): string {
  const path = withoutRoot(given);
  return path === '' || path === '/' ? '' : namesOf(path, true).join('/');
}

export function fullPathOf(path: string): string {
  return fileRoot() + path;
}

/** Clients may send back what answers call `full_file_path`. */
function withoutRoot(given: string): string {
  const root = fileRoot();
  return given.slice(0, root.length).toLowerCase() === root ? given.slice(root.length) : given;
}

function namesOf(path: string, mayEndInSlash: boolean): string[] {
  if (path.startsWith('/')) throw invalidPath('A path is relative to the root: it does not begin with a slash.');
  const names = path.split('/');
  if (mayEndInSlash && names.at(-1) === '') names.pop();
  if (names.includes('')) throw invalidPath('A path holds no empty names.');
  return names;
}
