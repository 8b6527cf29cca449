import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const SOURCES = ['src', 'libs', 'test', 'scripts'];

/**
 * Returns all files below folders of the project, which is the working directory.
 * @param {readonly string[]} folders
 */
export const filesBelow = (folders) =>
  folders
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))))
    .filter((path) => statSync(path).isFile());

/**
 * Returns the folder by which NOT_YET names a file: a domain, a library, a kind of tests, a folder of scripts. Files
 * beside these folders are named by a pattern, such as `src/*.ts`.
 * @param {string} file relative to the project
 */
export function folderOf(file) {
  const parts = file.split('/');
  const depth = parts[1] === 'modules' ? 4 : 2;
  if (parts.length > depth) return parts.slice(0, depth).join('/');
  return `${parts.slice(0, -1).join('/')}/*.${file.split('.').at(-1) ?? ''}`;
}

/**
 * Returns the patterns of a file, of all files of a folder, or of a pattern.
 * @param {string} path
 */
export const patternsOf = (path) => [path, `${path}/**`];

/**
 * True if a file is one of the paths, or is in a folder that is one of them.
 * @param {string} file
 * @param {readonly string[]} paths
 */
export const isAmong = (file, paths) => paths.some((path) => `${file}/`.startsWith(`${path.replace(/\/$/, '')}/`));
