import { invalid } from '../errors/domain-error';

// eslint-disable-next-line no-control-regex -- control characters are what is refused
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Limits of a file store, in bytes of UTF-8. */
export interface PathLimits {
  pathBytes: number;
  nameBytes: number;
}

/** Maximum length of a file's path in a workspace. */
export const MAX_PATH_BYTES = 1024;

const WORKSPACE: PathLimits = { pathBytes: MAX_PATH_BYTES, nameBytes: 255 };

/**
 * Returns the path of a file in its workspace: names joined by single slashes, without a leading slash. Throws a 400 for a
 * path that could leave the workspace or has an invalid file name.
 */
export function normalizePath(path: string, directory?: string): string {
  const joined = directory === undefined ? path : `${directory}/${path}`;
  return pathOfNames(
    joined.split('/').filter((part) => part !== ''),
    WORKSPACE,
  );
}

/** Returns the path of a new file. Throws a 400 for names that lead to another directory or that no file may have. */
export function pathOfNames(names: readonly string[], limits: PathLimits): string {
  if (names.length === 0) throw invalidPath('The path must name a file.');
  for (const name of names) {
    if (CONTROL.test(name) || name.includes('\\'))
      throw invalidPath('A path must not contain control characters or backslashes.');
    if (name === '.' || name === '..') throw invalidPath('A path must not contain "." or ".." as a name.');
    if (name.trim() === '') throw invalidPath('A file name must not be blank.');
    if (/\p{Surrogate}/u.test(name)) throw invalidPath('A path must be well-formed Unicode.');
    if (Buffer.byteLength(name) > limits.nameBytes) {
      throw invalidPath(`A file name may have at most ${limits.nameBytes} bytes.`);
    }
  }
  const path = names.join('/');
  if (Buffer.byteLength(path) > limits.pathBytes)
    throw invalidPath(`A path may have at most ${limits.pathBytes} bytes.`);
  return path;
}

export function invalidPath(message: string) {
  return invalid('FILE.INVALID_PATH', message);
}

/** Returns the path of the directory that a file is in; empty at the root. */
export function parentOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Returns every directory above a path, outermost first. */
export function ancestorsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Returns the extension of a file name without its dot; null if it has none. */
export function fileType(name: string): string | null {
  const dot = name.lastIndexOf('.');
  return dot > 0 && dot < name.length - 1 ? name.slice(dot + 1).toLowerCase() : null;
}
