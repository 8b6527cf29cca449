import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { transformFile } from '@swc/core';
import { SWC_OPTIONS } from './swc-options.cjs';

const FOLDERS = ['src', 'libs'];
/** Only tests use these sources. */
const TEST_SOURCES = /\.spec\.ts$|^libs\/(testing\/|.*\.contract\.ts$)/;
/** Compiled sources read these at run time, so they are copied to the same place in dist. */
const ASSETS = /\.(js|cjs|json|py|sh|yaml)$/;
/** The number of files that are read and written concurrently. */
const AT_ONCE = 32;

/** @type {import('@swc/core').Options} */
const OPTIONS = {
  ...SWC_OPTIONS,
  inlineSourcesContent: false,
  // Scripts are ES modules, and Node needs the annotation to let them import from CommonJS by name.
  module: { type: 'commonjs', ignoreDynamic: true, exportInteropAnnotation: true },
};

/**
 * Compiles each source in src and libs on its own into dist, and copies the files that they read at run time. Types are not
 * checked here but by `npm run lint`. What a deleted source left in dist is removed, so that nothing can still load it.
 * @param {string} root project folder
 */
export async function compileSources(root) {
  /** @type {Set<string>} */
  const made = new Set();
  const names = (await Promise.all(FOLDERS.map((folder) => filesBelow(root, folder)))).flat();
  const sources = names.filter((name) => !TEST_SOURCES.test(name));
  /** @param {string} name */
  const make = async (name) => {
    const isCompiled = /\.ts$/.test(name) && !name.endsWith('.d.ts');
    if (!isCompiled && !ASSETS.test(name)) return;
    const target = join('dist', isCompiled ? name.replace(/\.ts$/, '.js') : name);
    await mkdir(dirname(join(root, target)), { recursive: true });
    made.add(target);
    if (!isCompiled) return copyFile(join(root, name), join(root, target));
    const sourceFileName = relative(dirname(target), name);
    const { code, map } = await transformFile(join(root, name), { ...OPTIONS, sourceFileName });
    made.add(`${target}.map`);
    await writeFile(join(root, `${target}.map`), map ?? '');
    await writeFile(join(root, target), `${code}\n//# sourceMappingURL=${basename(target)}.map\n`);
  };
  const waiting = sources[Symbol.iterator]();
  const work = async () => {
    for (const name of waiting) await make(name);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  // If there was nothing to compile, the folder does not exist yet.
  await Promise.all(FOLDERS.map((folder) => mkdir(join(root, 'dist', folder), { recursive: true })));
  const present = (await Promise.all(FOLDERS.map((folder) => filesBelow(root, join('dist', folder))))).flat();
  await Promise.all(present.filter((name) => !made.has(name)).map((name) => rm(join(root, name))));
}

/** @param {string} root @param {string} folder @returns {Promise<string[]>} paths relative to the root */
async function filesBelow(root, folder) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(root, join(entry.parentPath, entry.name)));
}
