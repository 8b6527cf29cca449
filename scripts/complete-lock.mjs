#!/usr/bin/env node
// Adds to package-lock.json the optional packages that npm left out because its registry does not offer them: binaries
// for other systems. Without them `npm ci` rejects the file because it does not match package.json. Run it after
// `npm install`; an argument names another lock file.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const PROCESSORS = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

const file = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..', 'package-lock.json');
/** @type {{packages: Record<string, {optionalDependencies?: Record<string, string>, dev?: boolean}>}} */
const lock = JSON.parse(readFileSync(file, 'utf8'));
const unresolved = [];

for (const [path, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(optionalDependencies)) {
    if (isLocked(path, name)) continue;
    const { os, cpu } = platformOf(name);
    // The packages that need them pin exact versions; a range cannot be resolved here.
    if (os && cpu && /^\d+\.\d+\.\d+[\w.+-]*$/.test(range)) {
      const entry = { version: range, cpu: [cpu], ...(dev ? { dev: true } : {}), optional: true, os: [os] };
      lock.packages[`node_modules/${name}`] = entry;
      console.log(`added ${name}@${range} (${os}, ${cpu})`);
    } else {
      unresolved.push(`${name}@${range} of ${path}`);
    }
  }
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
if (unresolved.length > 0) {
  console.error(`Not added, add by hand: ${unresolved.join(', ')}`);
  process.exitCode = 1;
}

/**
 * True if Node's lookup from the folder of a package finds this dependency.
 * @param {string} from folder of a package
 * @param {string} name
 */
function isLocked(from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    if (lock.packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`]) return true;
    if (folder === '') return false;
  }
}

/**
 * Returns the platform in the name of a package: `@swc/core-linux-arm-gnueabihf` is for Linux on arm.
 * @param {string} name of a package
 */
function platformOf(name) {
  const words = name.slice(name.lastIndexOf('/') + 1).split(/[-_]/);
  return { os: SYSTEMS.find((system) => words.includes(system)), cpu: PROCESSORS.find((cpu) => words.includes(cpu)) };
}
