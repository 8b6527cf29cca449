import { execFile } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { javaVersion } from './java-version.mjs';
import { runCommand } from './processes.mjs';
import { writeTrustStore } from './trust-store.mjs';
import { withDeadline } from './deadline.mjs';

const execFileAsync = promisify(execFile);

const PACKAGE = 'openjdk-17-jre-headless';
const MAJOR = 17;
const DEADLINE_MS = 5 * 60_000;

/**
 * An installed Java is used this long before a newer one is looked for, and a failed attempt is repeated after this time.
 */
const DAY_MS = 24 * 60 * 60_000;
const RENEWAL_MS = 7 * DAY_MS;
const RETRY_MS = DAY_MS;

/**
 * The state of the installed Java.
 * @typedef {{home?: string, version?: string, checkedAt?: number}} State checkedAt in milliseconds since the epoch
 *
 * @typedef {{env: NodeJS.ProcessEnv, logFile: string, signal?: AbortSignal}} CommandOptions
 */

/**
 * The Java of Debian or Ubuntu in `$runtimeDir/java`, without root and without a change to the system. apt downloads the
 * packages with its own lists and cache and checks their signatures; then they are unpacked. A newer Java is looked for once a
 * week.
 */
export class DistributionJava {
  /**
   * @param {string} runtimeDir
   * @param {CommandOptions & {onProgress: (text: string) => void}} options
   */
  constructor(runtimeDir, { onProgress, signal, env, logFile }) {
    this.folder = join(runtimeDir, 'java');
    this.stateFile = join(this.folder, 'state.json');
    this.onProgress = onProgress;
    this.signal = signal;
    this.env = { ...env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
    this.logFile = logFile;
  }

  /** @returns {Promise<string | null>} home of a Java 17; null if there is no apt, or apt has no such Java */
  async find() {
    const state = this.state();
    const installed = await this.usable(state.home);
    const age = Date.now() - (state.checkedAt ?? 0);
    // A Java that is gone or no longer runs is fetched again at once.
    const pause = installed ? RENEWAL_MS : state.home ? 0 : RETRY_MS;
    const isFresh = age >= 0 && age < pause;
    const home = isFresh || !(await hasApt(this.env)) ? installed : await this.renew(state, installed);
    if (home) writeTrustStore(join(home, 'lib', 'security', 'cacerts'));
    return home;
  }

  /** Records that apt has no Java, once another one is used instead. */
  noteMissing() {
    if (this.attempted) this.writeState({ checkedAt: Date.now() });
  }

  /** @param {State} state @param {string | null} installed its home @returns {Promise<string | null>} */
  async renew(state, installed) {
    this.attempted = true;
    try {
      const { home, version } = await this.fetch(installed ? state : {});
      this.removeOthers([home, installed]);
      this.writeState({ home, version, checkedAt: Date.now() });
      return home;
    } catch (error) {
      if (this.signal?.aborted) throw error;
      mkdirSync(dirname(this.logFile), { recursive: true });
      appendFileSync(this.logFile, `${/** @type {Error} */ (error).message}\n`);
      if (installed) this.writeState({ ...state, checkedAt: Date.now() - RENEWAL_MS + RETRY_MS });
      return installed;
    }
  }

  /** @param {State} installed stays if there is no newer one @returns {Promise<{home: string, version: string}>} */
  async fetch(installed) {
    mkdirSync(this.folder, { recursive: true });
    const draft = mkdtempSync(join(this.folder, 'draft-'));
    const limit = withDeadline(DEADLINE_MS, this.signal);
    try {
      const apt = new PrivateApt(draft, { env: this.env, logFile: this.logFile, signal: limit });
      this.onProgress(`Looking for Java ${MAJOR} of this system’s distribution`);
      await apt.update();
      const version = await apt.candidate(PACKAGE);
      if (installed.home && version === installed.version) return { home: installed.home, version };
      this.onProgress(`Fetching ${PACKAGE} ${version}`);
      const root = await apt.unpack(PACKAGE);
      const home = javaHomeIn(root);
      await makeRelocatable(home, root);
      if ((await javaVersion(home))?.major !== MAJOR) throw new Error(`${PACKAGE} ${version} does not run here`);
      // A colon would end a path within a class path.
      const target = join(this.folder, `${PACKAGE}-${version.replace(/[^\w.+-]/g, '-')}`);
      rmSync(target, { recursive: true, force: true });
      renameSync(home, target);
      return { home: target, version };
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }

  /**
   * Removes other versions. The previous one stays until the next renewal, because a cluster may run on it.
   * @param {(string | null)[]} kept
   */
  removeOthers(kept) {
    for (const name of readdirSync(this.folder)) {
      const path = join(this.folder, name);
      if (name.startsWith(PACKAGE) && !kept.includes(path)) rmSync(path, { recursive: true, force: true });
    }
  }

  /** @param {string | undefined} home @returns {Promise<string | null>} */
  async usable(home) {
    if (!home || dirname(home) !== this.folder) return null;
    return (await javaVersion(home))?.major === MAJOR ? home : null;
  }

  /** @returns {State} */
  state() {
    try {
      return JSON.parse(readFileSync(this.stateFile, 'utf8'));
    } catch {
      return {};
    }
  }

  /** @param {State} state */
  writeState(state) {
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(`${this.stateFile}.new`, `${JSON.stringify(state)}\n`);
    renameSync(`${this.stateFile}.new`, this.stateFile);
  }
}

/** @param {NodeJS.ProcessEnv} env */
async function hasApt(env) {
  try {
    for (const command of ['apt-get', 'dpkg-deb']) await execFileAsync(command, ['--version'], { env });
    return true;
  } catch {
    return false;
  }
}

/** apt with the sources and keys of the system, which writes only to one folder. */
class PrivateApt {
  /** @param {string} folder @param {CommandOptions} options */
  constructor(folder, { env, logFile, signal }) {
    this.folder = folder;
    this.options = { env, logFile, signal };
    this.archives = join(folder, 'cache', 'archives');
    for (const path of [join(folder, 'lists', 'partial'), join(this.archives, 'partial')])
      mkdirSync(path, { recursive: true });
    this.settings = [
      `Dir::State=${folder}`,
      `Dir::State::lists=${join(folder, 'lists')}`,
      // The status file lists the packages of the system; apt only reads it.
      'Dir::State::status=/var/lib/dpkg/status',
      `Dir::Cache=${join(folder, 'cache')}`,
      'Debug::NoLocking=true',
      'APT::Get::AllowUnauthenticated=false',
      'Acquire::AllowInsecureRepositories=false',
      'Acquire::http::Timeout=20',
      'Acquire::https::Timeout=20',
      'Acquire::Retries=2',
    ].flatMap((setting) => ['-o', setting]);
  }

  /** Updates the lists. One of several sources may fail: `candidate` checks whether the package is available. */
  async update() {
    await runCommand('apt-get', [...this.settings, 'update'], this.options);
  }

  /** @param {string} name @returns {Promise<string>} the version that apt would install */
  async candidate(name) {
    const { output } = await runCommand('apt-cache', [...this.settings, 'policy', name], this.options);
    const version = /^\s*Candidate: (\S+)$/m.exec(output)?.[1];
    if (!version || version === '(none)') throw new Error(`apt has no ${name}`);
    return version;
  }

  /**
   * @param {string} name
   * @returns {Promise<string>} folder with the files of the package and of its dependencies that the system lacks
   */
  async unpack(name) {
    const install = ['install', '--reinstall', '--download-only', '--assume-yes', '--no-install-recommends', name];
    await this.run('apt-get', [...this.settings, ...install]);
    const root = join(this.folder, 'root');
    mkdirSync(root);
    for (const archive of readdirSync(this.archives).filter((file) => file.endsWith('.deb')))
      await this.run('dpkg-deb', ['--extract', join(this.archives, archive), root]);
    return root;
  }

  /** @param {string} command @param {string[]} args */
  async run(command, args) {
    const { code, output } = await runCommand(command, args, this.options);
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${output.trimEnd().split('\n').at(-1)}`);
  }
}

/** @param {string} root */
function javaHomeIn(root) {
  const folder = join(root, 'usr', 'lib', 'jvm');
  const name = readdirSync(folder).find(
    (entry) => !lstatSync(join(folder, entry)).isSymbolicLink() && existsSync(join(folder, entry, 'bin', 'java')),
  );
  if (!name) throw new Error(`${PACKAGE} holds no Java`);
  return join(folder, name);
}

/**
 * Replaces links that leave the home by their targets, and puts libraries that the system lacks beside Java's own.
 * @param {string} home
 * @param {string} root
 */
async function makeRelocatable(home, root) {
  for (const entry of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    const path = join(home, entry);
    // A path behind a link to a directory is gone with the link.
    if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
    const link = readlinkSync(path);
    const target = link.startsWith('/') ? join(root, link) : join(dirname(path), link);
    if (!relative(home, target).startsWith('..')) continue;
    rmSync(path);
    if (existsSync(target) && statSync(target).isFile()) cpSync(target, path, { dereference: true });
  }
  const libraries = new Map(
    ['usr/lib', 'lib']
      .flatMap((folder) => sharedLibraries(join(root, folder)))
      .map((file) => /** @type {const} */ ([basename(file), file])),
  );
  const own = join(home, 'lib');
  for (let missing = await missingLibraries(home); missing.length > 0; missing = await missingLibraries(home)) {
    const found = missing.flatMap((name) => {
      const file = libraries.get(name);
      return file && !existsSync(join(own, name)) ? [{ name, file }] : [];
    });
    if (found.length === 0) break;
    for (const { name, file } of found) cpSync(file, join(own, name), { dereference: true });
  }
}

/** @param {string} folder */
function sharedLibraries(folder) {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.so(\.|$)/.test(name) && !name.includes('/jvm/')).map((name) => join(folder, name));
}

/**
 * Returns the libraries that this Java needs and the loader does not find.
 * @param {string} home
 * @returns {Promise<string[]>}
 */
async function missingLibraries(home) {
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.so(\.|$)/.test(name))
    .map((name) => join(home, name));
  const { stdout } = await execFileAsync('ldd', [join(home, 'bin', 'java'), ...files], { maxBuffer: 2 ** 24 });
  return [...new Set([...stdout.matchAll(/^\s*(\S+) => not found$/gm)].map(([, name = '']) => name))];
}
