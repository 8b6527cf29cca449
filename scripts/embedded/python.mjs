import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SetupError } from './setup-error.mjs';

const execFileAsync = promisify(execFile);

/** Newest Python that PySpark 3.5 supports; a newer one is used only if there is no other. */
const NEWEST_TRIED_MINOR = 12;

/** @typedef {{major: number, minor: number, text: string}} PythonVersion */

/**
 * Returns the Python that PYTHON names, or the first suitable one on PATH.
 * @param {NodeJS.ProcessEnv} env
 * @param {(text: string) => void} [onProgress]
 * @returns {Promise<string>} command
 * @throws {SetupError}
 */
export async function findPython(env, onProgress = () => {}) {
  if (env.PYTHON) return namedPython(env.PYTHON);
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
    onProgress(`Only Python ${newer.version.text} was found; PySpark 3.5 is made for 3.9 to 3.${NEWEST_TRIED_MINOR}`);
    return newer.name;
  }
  const remedy = 'Install Python 3.9 or newer (Debian, Ubuntu: apt install python3 python3-venv) or set PYTHON to one.';
  const [oldOne] = found;
  throw new SetupError(
    oldOne
      ? `Python ${oldOne.version.text} is too old. ${remedy}`
      : `Python was not found: neither python3 nor python on PATH runs. ${remedy}`,
  );
}

/** @param {string} command */
async function namedPython(command) {
  const version = await pythonVersion(command);
  if (!version) {
    throw new SetupError(
      `PYTHON names ${command}, which does not run. Set PYTHON to a Python 3.9 or newer, or unset it.`,
    );
  }
  if (!isNewEnough(version)) {
    throw new SetupError(
      `PYTHON names ${command}, which is Python ${version.text}, but 3.9 or newer is needed. Set PYTHON to a newer one, or unset it.`,
    );
  }
  return command;
}

/**
 * @param {string} command
 * @returns {Promise<PythonVersion | null>} null if it does not run
 */
export async function pythonVersion(command) {
  try {
    const script = 'import sys; print("%d.%d.%d" % tuple(sys.version_info[:3]))';
    const { stdout } = await execFileAsync(command, ['-c', script], { timeout: 20_000 });
    const [major = NaN, minor = NaN] = stdout.trim().split('.').map(Number);
    return Number.isInteger(major) && Number.isInteger(minor) ? { major, minor, text: stdout.trim() } : null;
  } catch {
    return null;
  }
}

/** @param {PythonVersion} version */
function isNewEnough({ major, minor }) {
  return major === 3 && minor >= 9;
}
