import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { ensureGenerated } from '../../sdk/typescript/generate.mjs';
import { filesBelow, hashOfSources } from './sources.mjs';

/** The best quality but one: the best takes three times as long, for a fiftieth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } };
const GZIP = { level: 9 };

/** Files that are small already, or compressed, are sent as they are. */
const COMPRESSIBLE = /\.(js|css|svg)$/;
const MIN_BYTES = 1024;

/** The console depends on these. The types that are generated for the SDK come from openapi.json. */
const SOURCES = [
  ...['index.html', 'package.json', 'tsconfig.json', 'vite.config.ts', 'src'].map((name) => `console/${name}`),
  ...['sdk/typescript/src', 'openapi.json', 'scripts/build/console.mjs', 'package-lock.json'],
];

/**
 * Builds dist/console, the console with each file compressed, unless it was built from the present sources.
 * @param {string} root project folder
 */
export async function buildConsole(root) {
  const folder = join(root, 'dist', 'console');
  const stamp = join(root, 'dist', '.console-sha');
  const wanted = hashOfSources(root, SOURCES);
  if (existsSync(join(folder, 'index.html')) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  rmSync(stamp, { force: true });
  ensureGenerated();
  const { build } = await vite(root);
  await build({ root: join(root, 'console'), logLevel: 'warn' });
  await Promise.all(filesBelow(folder).map(compress));
  writeFileSync(stamp, wanted);
}

/**
 * Loads the bundler, which is a package of the console.
 * @param {string} root
 * @returns {Promise<{build: (options: object) => Promise<unknown>}>}
 */
function vite(root) {
  const file = createRequire(join(root, 'console', 'package.json')).resolve('vite');
  return import(pathToFileURL(file).href);
}

/** @param {string} file */
async function compress(file) {
  const content = await readFile(file);
  if (!COMPRESSIBLE.test(file) || content.length < MIN_BYTES) return;
  await Promise.all([
    promisify(brotliCompress)(content, BROTLI).then((bytes) => writeFile(`${file}.br`, bytes)),
    promisify(gzip)(content, GZIP).then((bytes) => writeFile(`${file}.gz`, bytes)),
  ]);
}
