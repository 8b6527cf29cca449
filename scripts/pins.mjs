#!/usr/bin/env node
// Updates the versions and hashes of what is installed besides the Node packages: `npm run pins`, on Linux, with a network.
// - scripts/embedded/requirements/*.in list the wanted packages: edit these. This script writes the *.txt beside them.
// - scripts/embedded/{azurite,node}/package.json have the versions of an object store of the tests and of Node. This script
//   writes the lock files beside them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot, runNpm } from './embedded/install.mjs';
import { runCommand } from './embedded/processes.mjs';
import { findPython } from './embedded/python.mjs';
import { PythonEnvironment } from './embedded/python-environment.mjs';
import { REQUIREMENTS, requirementsFile } from './embedded/requirements.mjs';
import { SetupError } from './embedded/setup-error.mjs';

const folder = mkdtempSync(join(tmpdir(), 'platform-pins-'));
try {
  await renewRequirements();
  for (const name of ['azurite', 'node']) await renewLockFile(name);
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @typedef {import('./embedded/requirements.mjs').RequirementsName} RequirementsName */

async function renewRequirements() {
  const environment = new PythonEnvironment(join(folder, 'venv'), {
    temporary: folder,
    logFile: join(folder, 'install.log'),
    env: process.env,
  });
  await environment.create(await findPython(process.env));
  await environment.install('uv');
  // uv does not read pip's variables.
  const index = process.env.PIP_INDEX_URL ? ['--default-index', process.env.PIP_INDEX_URL] : [];
  for (const name of /** @type {RequirementsName[]} */ (Object.keys(REQUIREMENTS))) {
    /** @type {{python: string, alone?: boolean}} */
    const { python, alone = false } = REQUIREMENTS[name];
    const kind = ['--universal', '--python-version', python, '--upgrade', '--generate-hashes'];
    const form = ['--quiet', '--no-header', '--no-annotate', ...(alone ? ['--no-deps'] : [])];
    const files = [requirementsFile(name, 'in'), '--output-file', requirementsFile(name)];
    const uv = join(environment.folder, 'bin', 'uv');
    await run(uv, ['pip', 'compile', ...index, ...kind, ...form, ...files]);
    console.log(`requirements/${name}.txt`);
  }
}

/** @param {string} name */
async function renewLockFile(name) {
  const root = join(projectRoot, 'scripts', 'embedded', name);
  rmSync(join(root, 'package-lock.json'), { force: true });
  const args = [
    'install',
    '--package-lock-only',
    '--omit-lockfile-registry-resolved',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ];
  const { code, output } = await runNpm(args, { root, onProgress: () => {} });
  if (code !== 0) throw new Error(output);
  const complete = join(projectRoot, 'scripts', 'complete-lock.mjs');
  await run(process.execPath, [complete, join(root, 'package-lock.json')]);
  console.log(`${name}/package-lock.json`);
}

/** @param {string} command @param {string[]} args */
async function run(command, args) {
  const { code, output } = await runCommand(command, args);
  if (code !== 0) throw new Error(output);
}
