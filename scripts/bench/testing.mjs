import { join } from 'node:path';
import { createJiti } from 'jiti';
import { projectRoot } from '../embedded/install.mjs';

/**
 * Loads a module of test/, which is not part of the build.
 * @param {string} name path below test/, without the extension
 * @returns {Promise<any>} the caller gives it the type of its source
 */
export function loadTesting(name) {
  return createJiti(import.meta.url).import(join(projectRoot, 'test', `${name}.ts`));
}
