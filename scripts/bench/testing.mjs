import { join } from 'node:path';
import { createJiti } from 'jiti';
import { projectRoot } from '../embedded/install.mjs';

/**
 * A module of test/, which is not part of the build.
 * @param {string} name its path there, without the extension
 * @returns {Promise<any>} typed by its source where it is loaded
 */
export function loadTesting(name) {
  return createJiti(import.meta.url).import(join(projectRoot, 'test', `${name}.ts`));
}
