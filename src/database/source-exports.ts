import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const SOURCES = join(__dirname, '..');
const load = createRequire(__filename);

/**
 * Returns the exports of all source files whose paths below `src` match, in the order of the paths. A bundle has no folders, so
 * `scripts/build/bundle.mjs` replaces this file with one that has the list.
 */
export function sourceExports(paths: RegExp): unknown[] {
  return readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => paths.test(path))
    .sort()
    .flatMap((path) => Object.values(load(join(SOURCES, path)) as Record<string, unknown>));
}
