import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesBelow, hashOfSources } from '../build/sources.mjs';
import { reportingElapsedTime } from './elapsed-time.mjs';
import { waitForLock } from './lock.mjs';
import { runCommand } from './processes.mjs';
import { SetupError } from './setup-error.mjs';

/** Files of dist that every build must produce. */
const ENTRIES = [
  'api.js',
  'worker.js',
  'migrate.js',
  'bundle/api.js',
  'bundle/worker.js',
  'agent/agent.js',
  'console/index.html',
];

/** A build depends on these, in the project folder. */
const SOURCES = [
  'package-lock.json',
  'openapi.json',
  'scripts/build.mjs',
  'console/index.html',
  'console/package.json',
  'console/vite.config.ts',
  'sdk/typescript/build.mjs',
  'sdk/typescript/generate.mjs',
  ...['scripts/build', 'src', 'libs', 'console/src', 'sdk/typescript/src'],
];

/** The folder that holds package.json. */
export const projectRoot = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/**
 * @typedef {(text: string, transient?: boolean) => void} OnProgress transient lines may be overwritten by the next
 *
 * @typedef {object} InstallOptions
 * @property {OnProgress} [onProgress]
 * @property {AbortSignal} [signal]
 * @property {string} [root] project folder
 */

/**
 * Installs the Node packages of package-lock.json unless node_modules has them already.
 * @param {InstallOptions} [options]
 * @returns {Promise<boolean>} true if anything was installed
 */
export async function ensureDependencies({ onProgress = () => {}, signal, root = projectRoot } = {}) {
  return withInstallLock(root, { onProgress, signal }, async () => {
    const lockFile = readFileSync(join(root, 'package-lock.json'));
    const wanted = sha256(lockFile);
    const stamp = join(root, 'node_modules', '.package-lock-sha');
    if (readText(stamp) === wanted) return false;
    if (installedMatches(root, JSON.parse(lockFile.toString('utf8')))) {
      writeFileSync(stamp, wanted);
      return false;
    }
    onProgress('Installing Node packages (npm ci)');
    const flags = ['--include=dev', '--no-audit', '--no-fund'];
    let { code, output } = await runNpm(['ci', ...flags], { root, signal, onProgress });
    if (code !== 0 && onlyOtherSystemsMissing(output)) {
      // npm install still uses the versions of the lock file, and leaves it unchanged.
      ({ code, output } = await runNpm(['install', '--no-save', ...flags], { root, signal, onProgress }));
    }
    if (code !== 0) {
      // npm writes this file last; without it, node_modules is incomplete and would only confuse the next command.
      if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) {
        rmSync(join(root, 'node_modules'), { recursive: true, force: true });
      }
      throw new SetupError(`npm ci failed: ${npmCause(output)}`);
    }
    writeFileSync(stamp, wanted);
    return true;
  });
}

/**
 * Builds dist unless it was built from the current sources.
 * @param {InstallOptions} [options]
 * @returns {Promise<boolean>} true if anything was built
 */
export async function ensureBuild({ onProgress = () => {}, signal, root = projectRoot } = {}) {
  return withInstallLock(root, { onProgress, signal }, async () => {
    const dist = join(root, 'dist');
    const stamp = join(dist, '.build-sha');
    const wanted = hashOfSources(root, SOURCES);
    const built = readBuild(stamp);
    if (
      built?.sources === wanted &&
      Object.entries(built.files).every(([name, size]) => sizeOf(join(dist, name)) === size)
    )
      return false;
    onProgress('Building (npm run build)');
    const { code, output } = await runNpm(['run', 'build'], { root, signal, onProgress });
    if (code !== 0) throw new SetupError(`npm run build failed: ${lastLines(output, 15)}`);
    const missing = ENTRIES.find((entry) => !existsSync(join(dist, entry)));
    if (missing) throw new SetupError(`npm run build ended without making ${join('dist', missing)}.`);
    const files = Object.fromEntries(builtFiles(dist).map((name) => [name, sizeOf(join(dist, name))]));
    writeFileSync(stamp, JSON.stringify({ sources: wanted, files }));
    return true;
  });
}

/**
 * Runs the action under a lock: two instances of one clone may start at once, and only one of them may write node_modules and
 * dist.
 * @template T
 * @param {string} root
 * @param {{onProgress: OnProgress, signal?: AbortSignal}} options
 * @param {() => Promise<T>} action
 * @returns {Promise<T>}
 */
async function withInstallLock(root, { onProgress, signal }, action) {
  /** @param {number | undefined} pid */
  const onWait = (pid) => onProgress(`Waiting for process ${pid}, which is installing or building in this folder`);
  const lock = await waitForLock(join(root, '.runtime-install', 'lock'), { signal, onWait });
  try {
    return await action();
  } finally {
    lock.release();
  }
}

/**
 * Returns the npm that runs this process under `npm run`, because PATH may have another one or none; else the npm on PATH.
 * @returns {[string, ...string[]]} command and first arguments
 */
export function npmCommand() {
  const own = process.env.npm_execpath;
  return own && /\.[cm]?js$/.test(own) ? [process.execPath, own] : ['npm'];
}

/**
 * @param {string[]} args
 * @param {{root: string, signal?: AbortSignal, onProgress: OnProgress}} options
 * @returns {Promise<import('./processes.mjs').CommandResult>}
 * @throws {SetupError} if there is no npm
 */
export async function runNpm(args, { root, signal, onProgress }) {
  const [command, ...first] = npmCommand();
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}` };
  const name = ['npm', ...args.filter((word) => !word.startsWith('-'))].join(' ');
  const run = () => runCommand(command, [...first, ...args], { cwd: root, env, signal });
  try {
    return await reportingElapsedTime(name, onProgress, run);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT')
      throw new SetupError('npm was not found. Install Node.js with npm and put it on PATH.');
    throw error;
  }
}

/**
 * True if `npm ci` refused only because the lock file lacks optional packages of other systems. npm leaves them out of the file
 * if its registry does not have them. Such a package is named without a version.
 * @param {string} output of npm
 */
function onlyOtherSystemsMissing(output) {
  const complaints = output.match(/(Missing|Invalid): .*/g) ?? [];
  return (
    output.includes('EUSAGE') && complaints.length > 0 && complaints.every((line) => /^Missing: \S+@ from/.test(line))
  );
}

/** @param {string} output of a failed npm command @returns {string} the cause and the remedy, or npm's own first errors */
export function npmCause(output) {
  if (/ENOSPC|no space left/i.test(output)) return 'the disk is full. Free some space and run the command again.';
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|network/i.test(output)) {
    return 'the package registry could not be reached. Check the network or proxy settings of npm and run the command again.';
  }
  if (/EINTEGRITY|Z_BUF_ERROR|TAR_/.test(output)) {
    return 'a download was damaged. Run `npm cache verify` and then the command again.';
  }
  // npm ends with pages on its usage; the actual fault is at the top of its errors.
  const errors = output.match(/^npm error .*/gm) ?? [];
  return errors.length > 0 ? errors.slice(0, 8).join('\n') : lastLines(output, 15);
}

/**
 * The fields of npm's lock files that are read here, by the path of each package.
 * @typedef {{packages?: Record<string, {version?: string, integrity?: string, optional?: boolean}>}} NpmLock
 */

/**
 * True if npm's own record of node_modules matches the lock file, apart from optional packages of other systems.
 * @param {string} root
 * @param {NpmLock} lockFile
 */
function installedMatches(root, lockFile) {
  const record = readText(join(root, 'node_modules', '.package-lock.json'));
  if (record === null) return false;
  try {
    const installed = /** @type {NpmLock} */ (JSON.parse(record)).packages ?? {};
    const { packages = {} } = lockFile;
    const wanted = Object.entries(packages).filter(([path]) => path !== '');
    const present = wanted.every(([path, { version, integrity, optional }]) => {
      const found = installed[path];
      return found ? found.version === version && found.integrity === integrity : optional === true;
    });
    return present && Object.keys(installed).every((path) => path in packages);
  } catch {
    return false;
  }
}

/**
 * Reads the stamp of a build, which has the hash of its sources and the size in bytes of each file in dist.
 * @param {string} stamp
 * @returns {{sources: string, files: Record<string, number>} | null}
 */
function readBuild(stamp) {
  try {
    return JSON.parse(readFileSync(stamp, 'utf8'));
  } catch {
    return null;
  }
}

/** Lists the files of a build, without the caches that running programs write. @param {string} dist */
function builtFiles(dist) {
  return filesBelow(dist)
    .map((file) => relative(dist, file))
    .filter((name) => !name.startsWith('.'));
}

/** @param {string} file @returns {number} -1 if there is none */
function sizeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.size ?? -1;
}

/** @param {string} file */
function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** @param {Buffer} data */
function sha256(data) {
  return createHash('sha256').update(data).digest('hex');
}

/** @param {string} text @param {number} count */
function lastLines(text, count) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
