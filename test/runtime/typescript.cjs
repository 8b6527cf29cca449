// Lets Node load the TypeScript of the project: each file is compiled once, whichever process and jest project asks first.
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
    // Moves `jest.mock()` above the imports whose modules it replaces.
    transform: { ...SWC_OPTIONS.jsc.transform, hidden: { jest: true } },
  },
};

const KEY = createHash('sha256').update(swc.version).update(JSON.stringify(OPTIONS)).digest();

/** Path of the source map by path of the source: what jest reads to name lines of the source in stack traces. */
const sourceMaps = new Map();

/** @param {string} file @returns {string} the compiled source */
function compile(file) {
  const source = readFileSync(file, 'utf8');
  const hash = createHash('sha256').update(KEY).update(file).update('\0').update(source).digest('hex');
  const compiled = join(CACHE, `${hash}.js`);
  const map = `${compiled}.map`;
  sourceMaps.set(file, map);
  // The map is written first: where there is code, there is a map of it.
  if (existsSync(compiled)) return readFileSync(compiled, 'utf8');
  const output = swc.transformSync(source, { ...OPTIONS, filename: file, sourceFileName: pathToFileURL(file).href });
  mkdirSync(CACHE, { recursive: true });
  write(map, output.map ?? '');
  write(compiled, output.code);
  return output.code;
}

/** Other processes compile the same files at the same time, so none may read half a file. @param {string} file @param {string} text */
function write(file, text) {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, file);
}

/** Where V8 keeps compiled code between processes, which halves the time to load the API. Node has it from 22.1 on. */
function enableCompileCache() {
  Module.enableCompileCache?.(join(CACHE, 'v8'));
}

function register() {
  enableCompileCache();
  Module._extensions['.ts'] = (module, file) => module._compile(compile(file), file);
}

module.exports = { register, sourceMaps };
