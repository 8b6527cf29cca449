import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { askJava, javaVersion } from './java-version.mjs';

/** Spark 3.5 supports Java 8, 11 and 17; on newer ones its functions over pandas fail. */
const OLDEST_USABLE = 8;
const NEWEST_USABLE = 17;

/** Folders where systems keep several Javas side by side, and the path of the home below each entry. */
const JVM_FOLDERS = /** @type {const} */ ([
  ['/usr/lib/jvm', ''],
  ['/usr/lib64/jvm', ''],
  ['/Library/Java/JavaVirtualMachines', 'Contents/Home'],
]);

/**
 * Returns the Java of JAVA_HOME if Spark runs on it.
 * @param {NodeJS.ProcessEnv} env
 * @param {(text: string) => void} onProgress
 * @returns {Promise<string | null>} its home
 */
export async function javaOfVariable(env, onProgress) {
  if (!env.JAVA_HOME) return null;
  const major = (await javaVersion(env.JAVA_HOME))?.major ?? null;
  if (major !== null && major >= OLDEST_USABLE && major <= NEWEST_USABLE) return resolve(env.JAVA_HOME);
  const what = major === null ? 'has no working Java' : `has Java ${major}`;
  onProgress(`JAVA_HOME ${what}; Spark needs Java ${OLDEST_USABLE} to ${NEWEST_USABLE}, so another one will be used`);
  return null;
}

/**
 * Returns a Java 17 that the system has and keeps patched: the one on PATH, or one of those installed side by side.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | null>} its home
 */
export async function javaOfSystem(env) {
  for (const command of ['java', ...installedJavas()]) {
    const java = await askJava(command, env);
    if (java?.major === NEWEST_USABLE && java.home && existsSync(join(java.home, 'bin', 'java'))) return java.home;
  }
  return null;
}

function installedJavas() {
  return JVM_FOLDERS.flatMap(([folder, below]) => {
    const names = existsSync(folder) ? readdirSync(folder) : [];
    const named = names.filter((name) => new RegExp(`(?<!\\d)${NEWEST_USABLE}(?!\\d)`).test(name)).sort();
    return named.map((name) => join(folder, name, below, 'bin', 'java'));
  });
}
