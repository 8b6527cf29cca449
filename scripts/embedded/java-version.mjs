import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);

/**
 * @param {string} home
 * @returns {Promise<{major: number, text: string} | null>} major is 8, 11, 17, …; null if there is no Java that runs
 */
export async function javaVersion(home) {
  return askJava(join(home, 'bin', 'java'));
}

/**
 * @param {string} command a path, or a name on PATH
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<{major: number, text: string, home: string | null} | null>}
 */
export async function askJava(command, env) {
  try {
    const args = ['-XshowSettings:properties', '-version'];
    const { stderr, stdout } = await execFileAsync(command, args, { env, timeout: 20_000 });
    const output = stderr + stdout;
    const match = /version "(?:1\.)?(\d+)/.exec(output);
    if (!match) return null;
    const home = /^\s*java\.home = (.+)$/m.exec(output)?.[1]?.trim() ?? null;
    return { major: Number(match[1]), text: output.slice(output.indexOf(match[0])), home };
  } catch {
    return null;
  }
}
