import { invalid } from '../errors/domain-error';

// eslint-disable-next-line no-control-regex -- control characters are what is refused
const CONTROL = /[\u0000-\u001f\u007f]/;

/** What a file store accepts, in bytes of UTF-8. */
export interface PathLimits {
  pathBytes: number;
  nameBytes: number;
}

/** Of a file in a workspace. */
export const MAX_PATH_BYTES = 1024;

const WORKSPACE: PathLimits = { pathBytes: MAX_PATH_BYTES, nameBytes: 255 };

/**
 * The path of a file in its workspace: parts joined by one slash, none in front. Refuses whatever could leave the
 * workspace or cannot be a file name.
 */
export function normalizePath(given: string, directory?: string): string {
  const joined = directory === undefined ? given : `${directory}/${given}`;
  return pathOfNames(
    joined.split('/').filter((part) => part !== ''),
    WORKSPACE,
  );
}

/** The path of a file to be made; throws a 400 for names that mean another place or that no file should have. */
export function pathOfNames(names: readonly string[], limits: PathLimits): string {
  if (names.length === 0) throw invalidPath('The path names no file.');
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

/** Path of the directory a file is in; empty at the root. */
export function parentOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Every directory above a path, outermost first. */
export function ancestorsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Extension of a file name without its dot; null where there is none. */
export function fileType(name: string): string | null {
  const dot = name.lastIndexOf('.');
  return dot > 0 && dot < name.length - 1 ? name.slice(dot + 1).toLowerCase() : null;
}
