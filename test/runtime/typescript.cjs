// Lets Node load the project's TypeScript. A file is compiled once for all processes and Jest projects.
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const swc = require('@swc/core');
const { SWC_OPTIONS } = require('../../scripts/build/swc-options.cjs');

const CACHE = join(__dirname, '..', '..', 'node_modules', '.cache', 'typescript');

const OPTIONS = {
  ...SWC_OPTIONS,
  jsc: {
    ...SWC_OPTIONS.jsc,
    // This hoists `jest.mock()` above the imports of the modules that it replaces.
    transform: { ...SWC_OPTIONS.jsc.transform, hidden: { jest: true } },
  },
};

const COMPILER_HASH = createHash('sha256').update(swc.version).update(JSON.stringify(OPTIONS)).digest();

/** Maps the path of a source to that of its source map, which Jest reads to show source lines in stack traces. */
const sourceMaps = new Map();

/** @param {string} file @returns {string} the compiled source */
function compile(file) {
  const source = readFileSync(file, 'utf8');
  const hash = createHash('sha256').update(COMPILER_HASH).update(file).update('\0').update(source).digest('hex');
  const compiled = join(CACHE, `${hash}.js`);
  const map = `${compiled}.map`;
  sourceMaps.set(file, map);
  // The map is written before the code, so where there is code, there is its map.
  if (existsSync(compiled)) return readFileSync(compiled, 'utf8');
  const output = swc.transformSync(source, { ...OPTIONS, filename: file, sourceFileName: pathToFileURL(file).href });
  mkdirSync(CACHE, { recursive: true });
  writeAtomically(map, output.map ?? '');
  writeAtomically(compiled, output.code);
  return output.code;
}

/** Other processes compile the same files at the same time and must not read half a file. @param {string} file @param {string} text */
function writeAtomically(file, text) {
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, text);
  renameSync(temporary, file);
}

/** Keeping V8's compiled code between processes halves the time to load the API. Node can do this from 22.1 on. */
function enableCompileCache() {
  Module.enableCompileCache?.(join(CACHE, 'v8'));
}

function register() {
  enableCompileCache();
  Module._extensions['.ts'] = (module, file) => module._compile(compile(file), file);
}

module.exports = { register, sourceMaps };
