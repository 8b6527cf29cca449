import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { QUICK_JAVA } from './quick-java.mjs';

/**
 * Returns a Java home like the given one, whose `java` starts with {@link QUICK_JAVA}. Options that the command line repeats
 * override them.
 * @param {string} runtimeDir where it is kept
 * @param {string} javaHome
 * @returns {string} its path
 */
export function shortLivedJavaHome(runtimeDir, javaHome) {
  const content = `#!/bin/sh\nexec '${javaHome}/bin/java' ${QUICK_JAVA.join(' ')} "$@"\n`;
  const home = join(runtimeDir, `java-${createHash('sha256').update(content).digest('hex').slice(0, 16)}`);
  if (existsSync(home)) return home;
  mkdirSync(runtimeDir, { recursive: true });
  const unfinished = mkdtempSync(`${home}.`);
  try {
    linkAllBut(['bin'], javaHome, unfinished);
    mkdirSync(join(unfinished, 'bin'));
    linkAllBut(['java'], join(javaHome, 'bin'), join(unfinished, 'bin'));
    writeFileSync(join(unfinished, 'bin', 'java'), content, { mode: 0o755 });
    // Jobs run as other users.
    chmodSync(unfinished, 0o755);
    renameSync(unfinished, home);
  } catch (error) {
    // Another run was faster.
    if (!existsSync(home)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return home;
}

/** @param {string[]} names @param {string} from @param {string} to */
function linkAllBut(names, from, to) {
  for (const name of readdirSync(from)) if (!names.includes(name)) symlinkSync(join(from, name), join(to, name));
}
