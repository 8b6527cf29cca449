import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const SOURCES = join(__dirname, '..');
const load = createRequire(__filename);

/**
 * What the sources export whose paths below `src` match, by these paths. A bundle has no folders: there it reads the list that
 * `scripts/build/bundle.mjs` puts in place of this file.
 */
export function sourceExports(paths: RegExp): unknown[] {
  return readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => paths.test(path))
    .sort()
    .flatMap((path) => Object.values(load(join(SOURCES, path)) as Record<string, unknown>));
}
