import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** The build does not depend on specs, and generates sources of the SDK itself. */
const IGNORED = /\.spec\.ts$|[\\/]generated[\\/]/;

/** @param {string} folder @returns {string[]} paths of its files; none if there is no folder */
export function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
}

/**
 * Returns a hash of the names and contents of the sources among these.
 * @param {string} root project folder
 * @param {readonly string[]} paths files and folders in the project folder; those that do not exist count as none
 */
export function hashOfSources(root, paths) {
  const hash = createHash('sha256');
  const files = paths.map((path) => join(root, path)).filter((path) => existsSync(path));
  const all = files.flatMap((path) => (statSync(path).isDirectory() ? filesBelow(path) : [path]));
  for (const file of all.filter((name) => !IGNORED.test(name)).sort()) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}
