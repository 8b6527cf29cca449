import { invalid } from '../../platform/errors/domain-error';

const MAX_PATH_BYTES = 1024;
const MAX_NAME_BYTES = 255;
// eslint-disable-next-line no-control-regex -- control characters are what is refused
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * The path of a file in its workspace: parts joined by one slash, none in front. Refuses whatever could leave the
 * workspace or cannot be a file name.
 */
export function normalizePath(given: string, directory?: string): string {
  const joined = directory === undefined ? given : `${directory}/${given}`;
  if (CONTROL.test(joined) || joined.includes('\\')) {
    throw invalid('FILE.INVALID_PATH', 'A path holds no control characters and no backslashes.');
  }
  const parts = joined.split('/').filter((part) => part !== '');
  if (parts.length === 0) throw invalid('FILE.INVALID_PATH', 'The path names no file.');
  for (const part of parts) {
    if (part === '.' || part === '..') throw invalid('FILE.INVALID_PATH', 'A path holds no "." and no "..".');
    if (part.trim() === '') throw invalid('FILE.INVALID_PATH', 'A file name is not blank.');
    if (Buffer.byteLength(part) > MAX_NAME_BYTES) {
      throw invalid('FILE.INVALID_PATH', `A file name has at most ${MAX_NAME_BYTES} bytes.`);
    }
  }
  const path = parts.join('/');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw invalid('FILE.INVALID_PATH', `A path has at most ${MAX_PATH_BYTES} bytes.`);
  return path;
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
