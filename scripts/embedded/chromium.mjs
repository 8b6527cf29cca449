import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { chromium } from 'playwright-core';
import { projectRoot } from './install.mjs';

const require = createRequire(import.meta.url);
const run = promisify(execFile);
const decompress = promisify(brotliDecompress);

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** @typedef {{executable: string, env: Record<string, string>}} Installation */

/** Starts a headless Chromium; the caller closes it. @returns {Promise<import('playwright-core').Browser>} */
export async function launchChromium() {
  const { executable, env } = await findChromium();
  return chromium.launch({
    executablePath: executable,
    headless: true,
    // Containers and root have no user namespaces to sandbox in, and little shared memory; only our own pages are shown.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    env: { ...definedEnvironment(), ...env },
  });
}

/** @type {Promise<Installation> | undefined} */
let found;

function findChromium() {
  found ??= firstThatRuns();
  return found;
}

/**
 * Returns one on PATH, else the one of the package @sparticuz/chromium, else, for root on Debian, the system's package.
 * @returns {Promise<Installation>}
 */
async function firstThatRuns() {
  /** @type {string[]} */
  const causes = [];
  for (const source of [onPath, fromPackage, fromDebian]) {
    try {
      const installation = await source();
      await run(installation.executable, ['--version'], {
        env: { ...definedEnvironment(), ...installation.env },
        timeout: 120_000,
      });
      return installation;
    } catch (error) {
      causes.push(error instanceof Error ? error.message.split('\n').slice(0, 3).join(' ') : String(error));
    }
  }
  const remedy = `Install Chromium or Google Chrome so that one of ${NAMES.join(', ')} is on PATH.`;
  throw new Error(`No Chromium runs here. ${remedy}\n${causes.map((cause) => `  - ${cause}`).join('\n')}`);
}

/** @returns {Promise<Installation>} */
async function onPath() {
  for (const folder of (process.env['PATH'] ?? '').split(':').filter(Boolean)) {
    for (const name of NAMES) {
      const executable = join(folder, name);
      if (await isExecutable(executable)) return { executable, env: {} };
    }
  }
  throw new Error('none on PATH');
}

/**
 * Unpacks the package's archives under `.runtime`, once. The package's own function uses a name in the temporary folder that
 * all users and versions share, and omits the libraries that a minimal system lacks.
 * @returns {Promise<Installation>}
 */
async function fromPackage() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('@sparticuz/chromium is for Linux on x64');
  const root = resolve(dirname(require.resolve('@sparticuz/chromium')), '..', '..');
  /** @type {{version: string}} */
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const folder = join(projectRoot, '.runtime', `chromium-${version}`);
  const executable = join(folder, 'chromium');
  if (!(await isExecutable(executable))) await unpack(join(root, 'bin'), folder);
  const libraries = [join(folder, 'lib'), process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':');
  return { executable, env: { LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: folder } };
}

/**
 * Creates the folder next to its final place and moves it there, so that other runs find all of it or nothing.
 * @param {string} archives
 * @param {string} folder
 */
async function unpack(archives, folder) {
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}.`);
  try {
    await chmod(draft, 0o755);
    for (const name of ['al2023.tar', 'fonts.tar', 'swiftshader.tar']) {
      const archive = join(draft, name);
      await writeFile(archive, await decompress(await readFile(join(archives, `${name}.br`))));
      await run('tar', ['-xf', archive, '--no-same-owner', '-C', draft]);
      await rm(archive);
    }
    // The package's own fonts.conf names folders of the platform it was made for.
    const dirs = [join(folder, 'fonts'), '/usr/share/fonts'].map((dir) => `<dir>${dir}</dir>`).join('');
    const fonts = `${dirs}<cachedir>${join(folder, 'fonts-cache')}</cachedir>`;
    await writeFile(join(draft, 'fonts.conf'), `<?xml version="1.0"?>\n<fontconfig>${fonts}</fontconfig>\n`);
    const executable = await decompress(await readFile(join(archives, 'chromium.br')));
    await writeFile(join(draft, 'chromium'), executable, { mode: 0o755 });
    await rename(draft, folder).catch((/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** @returns {Promise<Installation>} */
async function fromDebian() {
  if (process.getuid?.() !== 0) throw new Error('only root can install the chromium package of the system');
  const env = { ...definedEnvironment(), DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update'], { env, timeout: 120_000 });
  await run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], { env, timeout: 300_000 });
  return onPath();
}

/** @param {string} file */
async function isExecutable(file) {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @returns {Record<string, string>} */
function definedEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
