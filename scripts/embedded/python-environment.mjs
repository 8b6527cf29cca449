import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from './processes.mjs';
import { REQUIREMENTS, requirementsFile, requirementsId } from './requirements.mjs';
import { SetupError } from './setup-error.mjs';

/** They would make Python import other modules, or compile these elsewhere or not at all. */
const OF_OTHER_PYTHON = ['PYTHONHOME', 'PYTHONPATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONPYCACHEPREFIX'];

/** Settings of setuptools for the packages that are built. The jars of PySpark are compressed already, and pip unpacks the wheel at once. */
const BUILD_SETTINGS = fileURLToPath(new URL('build.cfg', import.meta.url));

/**
 * A virtual environment with the packages of `requirements/`, checked by hash. It cannot be moved, so it is created in
 * place.
 */
export class PythonEnvironment {
  /**
   * @param {string} folder
   * @param {object} options
   * @param {string} options.temporary folder to unpack in: /tmp is often a small file system in memory
   * @param {string} options.logFile
   * @param {NodeJS.ProcessEnv} options.env
   * @param {import('./install.mjs').OnProgress} [options.onProgress]
   * @param {AbortSignal} [options.signal]
   */
  constructor(folder, { temporary, logFile, env, onProgress = () => {}, signal }) {
    this.folder = folder;
    this.python = join(folder, 'bin', 'python');
    this.pip = [this.python, '-m', 'pip'];
    this.temporary = temporary;
    this.logFile = logFile;
    this.env = env;
    this.onProgress = onProgress;
    this.signal = signal;
    // Only pip 24.1 and newer report the progress of downloads in a machine-readable form.
    this.showsProgress = false;
  }

  /**
   * @param {string} interpreter
   * @throws {SetupError}
   */
  async create(interpreter) {
    rmSync(this.folder, { recursive: true, force: true });
    const { code, output } = await this.run(interpreter, ['-m', 'venv', this.folder]);
    if (code !== 0 && /ensurepip is not available|No module named ['"]?(venv|ensurepip)/.test(output)) {
      throw new SetupError(
        `The venv module of ${interpreter} is missing. Install it (Debian, Ubuntu: apt install python3-venv) or set PYTHON to a Python that has it.`,
      );
    }
    if (code !== 0) throw this.classify('Creating the Python environment failed', output);
    await this.install('pip');
    this.showsProgress = true;
  }

  /**
   * Creates the environment without a pip of its own, which would take longer to install than most sets of packages.
   * @param {string} interpreter of an environment that `create` has created, whose pip installs into this one
   * @throws {SetupError}
   */
  async createBeside(interpreter) {
    rmSync(this.folder, { recursive: true, force: true });
    const { code, output } = await this.run(interpreter, ['-m', 'venv', '--without-pip', this.folder]);
    if (code !== 0) throw this.classify('Creating the Python environment failed', output);
    this.pip = [interpreter, '-m', 'pip', '--python', this.python];
    this.showsProgress = true;
  }

  /**
   * @param {import('./requirements.mjs').RequirementsName} name
   * @param {string[]} [args] further options of pip
   * @throws {SetupError}
   */
  async install(name, args) {
    const { code, output } = await this.tryInstall(name, args);
    if (code !== 0) throw this.installFailure(name, output);
  }

  /**
   * Installs a set, which has all that it needs, and compiles of it what is imported.
   * @param {import('./requirements.mjs').RequirementsName} name
   * @throws {SetupError}
   */
  async installWithoutDependencies(name) {
    /** @type {{package: string, imports?: readonly string[]}} */
    const { imports } = REQUIREMENTS[name];
    await this.install(name, ['--no-deps', ...(imports ? ['--no-compile'] : [])]);
    // A module that is not compiled here is when a process first imports it.
    if (imports) await this.run(this.python, ['-c', `import ${imports.join(', ')}`]);
  }

  /**
   * @param {import('./requirements.mjs').RequirementsName} name
   * @param {string[]} [args]
   * @returns {Promise<import('./processes.mjs').CommandResult>}
   */
  tryInstall(name, args = []) {
    this.onProgress(`Installing ${REQUIREMENTS[name].package}`);
    const progress = this.showsProgress ? ['--progress-bar', 'raw'] : [];
    const [command = '', ...pip] = this.pip;
    const common = [...pip, 'install', '--disable-pip-version-check', '--no-input', ...progress];
    const pinned = ['--require-hashes', '--only-binary', ':all:', '--requirement', requirementsFile(name)];
    return this.run(
      command,
      [...common, ...pinned, ...args],
      pipProgress((text) => this.onProgress(text, true)),
    );
  }

  /** @param {string} command @param {string[]} args @param {(line: string) => void} [onLine] */
  run(command, args, onLine) {
    /** @type {NodeJS.ProcessEnv} */
    const env = { ...this.env, TMPDIR: this.temporary, PYTHONUNBUFFERED: '1', DIST_EXTRA_CONFIG: BUILD_SETTINGS };
    for (const name of OF_OTHER_PYTHON) delete env[name];
    return runCommand(command, args, { env, logFile: this.logFile, onLine, signal: this.signal });
  }

  /** @param {import('./requirements.mjs').RequirementsName} name @param {string} output */
  installFailure(name, output) {
    return this.classify(`Installing ${REQUIREMENTS[name].package} failed`, output);
  }

  /** @param {string} what @param {string} output @returns {SetupError} */
  classify(what, output) {
    for (const { pattern, cause, remedy } of INSTALL_FAILURES) {
      if (pattern.test(output)) return this.failure(what, cause, remedy);
    }
    const lines = output.trimEnd().split('\n');
    const line = lines.findLast((text) => /^\s*(error|.*Error:)/i.test(text)) ?? lines.at(-1) ?? '';
    const cause = line.trim().replace(/\.$/, '') || 'no output';
    return this.failure(what, cause, 'Run the command again once that is solved.');
  }

  /** @param {string} what @param {string} cause @param {string} remedy */
  failure(what, cause, remedy) {
    return new SetupError(`${what}: ${cause}. ${remedy} Details: ${this.logFile}`);
  }
}

/**
 * Creates an environment with sets of packages, once for each version of them.
 * @param {string} parent folder that no other process changes meanwhile
 * @param {import('./requirements.mjs').RequirementsName | import('./requirements.mjs').RequirementsName[]} wanted
 * @param {string} interpreter that `prepareRuntime` returned as `python`
 * @param {Omit<ConstructorParameters<typeof PythonEnvironment>[1], 'temporary'>} options
 * @returns {Promise<string>} its folder
 * @throws {SetupError}
 */
export async function environmentOnce(parent, wanted, interpreter, options) {
  const names = [wanted].flat();
  const folder = join(parent, `${names.join('-')}-${requirementsId('pip', ...names)}`);
  const stamp = `${folder}.complete`;
  if (existsSync(stamp)) return folder;
  const environment = new PythonEnvironment(folder, { ...options, temporary: parent });
  await environment.createBeside(interpreter);
  // The sets are complete, dependencies included.
  for (const name of names) await environment.installWithoutDependencies(name);
  writeFileSync(stamp, '');
  return folder;
}

/**
 * True if pip found no file of a package for this machine. Without a network pip reports the same, after errors about the
 * connection.
 * @param {string} output
 * @returns {boolean}
 */
export function isForOtherMachines(output) {
  return /No matching distribution/.test(output) && !/connection|name resolution|SSLError/i.test(output);
}

export const DISK_REMEDY =
  'Free some space or set RUNTIME_DIR to a folder on a larger disk, then run the command again.';

const INSTALL_FAILURES = [
  { pattern: /No space left on device|Disk quota exceeded/i, cause: 'the disk is full', remedy: DISK_REMEDY },
  {
    pattern: /DO NOT MATCH THE HASHES/,
    cause: 'a download is not the file that this release expects',
    remedy:
      'If it was only damaged on the way, run `pip cache purge` and the command again; otherwise the package index offers a different file, which must not be trusted.',
  },
  {
    pattern:
      /IncompleteRead|BadZipFile|not a gzip file|unexpected end of data|Bad CRC|IncompleteDownload|Connection broken/i,
    cause: 'a download was damaged',
    remedy: 'Run the command again; if it fails once more, first empty pip’s cache with `pip cache purge`.',
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
];

/**
 * Turns pip's lines into short ones with the file and the downloaded share.
 * @param {(text: string) => void} show
 * @returns {(line: string) => void}
 */
function pipProgress(show) {
  let file = '';
  let shown = -1;
  return (line) => {
    const download = /^\s*(?:Downloading|Using cached) (\S+)/.exec(line);
    const progress = /^Progress (\d+) of (\d+)/.exec(line);
    if (download) {
      file = download[1]?.split('/').pop() ?? '';
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

/** @param {number} bytes */
function megabytes(bytes) {
  return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
}
