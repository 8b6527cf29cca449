import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runCommand } from './processes.mjs';
import { SetupError } from './setup-error.mjs';
import { SYSTEM_TRUST_STORES } from './trust-store.mjs';

/** The LDAP server of the tests: UnboundID's in-memory directory, a whole server in one jar. */
export const LDAP_SERVER = {
  group: 'com.unboundid',
  name: 'unboundid-ldapsdk',
  version: '7.0.5',
  sha256: '463f0ee93f8046c6f72766f111fc27b18ab4727541968b9fa72699023e1b0ff0',
};

/**
 * Fetches the server once, with the Ivy that comes with Spark; afterwards no network is needed.
 * @param {string} runtimeDir
 * @param {import('./runtime.mjs').Runtime} runtime
 * @param {{onProgress?: (text: string) => void, signal?: AbortSignal, env?: NodeJS.ProcessEnv}} [options]
 * @returns {Promise<string>} path of the jar
 * @throws {SetupError}
 */
export async function prepareLdapServer(runtimeDir, runtime, { onProgress = () => {}, signal, env } = {}) {
  const folder = resolve(runtimeDir, 'ldap-server');
  const jar = join(folder, `${LDAP_SERVER.name}-${LDAP_SERVER.version}.jar`);
  if (isGenuine(jar)) return jar;
  onProgress(`Fetching ${LDAP_SERVER.group}:${LDAP_SERVER.name}:${LDAP_SERVER.version}`);
  // Each attempt has a folder of its own, because another run may be fetching the same jar.
  const draft = join(folder, `draft-${randomUUID()}`);
  mkdirSync(draft, { recursive: true });
  try {
    const { code, output } = await runCommand(join(runtime.javaHome, 'bin', 'java'), ivyArguments(runtime, draft), {
      env,
      signal,
    });
    const fetched = join(draft, `${LDAP_SERVER.name}.jar`);
    if (code !== 0 || !existsSync(fetched)) throw failure(lastErrorOf(output));
    if (!isGenuine(fetched)) throw failure('the download has the wrong checksum');
    renameSync(fetched, jar);
    return jar;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** @param {import('./runtime.mjs').Runtime} runtime @param {string} draft folder to write to */
function ivyArguments({ sparkHome }, draft) {
  const jars = join(sparkHome, 'jars');
  const ivy = readdirSync(jars).find((name) => /^ivy-[\d.]+\.jar$/.test(name));
  if (!ivy) throw failure(`there is no Ivy in ${jars}`);
  // The Java of the runtime may have its own certificate authorities and not know the site's.
  const trustStore = SYSTEM_TRUST_STORES.find((file) => existsSync(file));
  return [
    ...(trustStore ? [`-Djavax.net.ssl.trustStore=${trustStore}`] : []),
    `-Divy.default.ivy.user.dir=${draft}`,
    ...['-jar', join(jars, ivy)],
    ...['-dependency', LDAP_SERVER.group, LDAP_SERVER.name, LDAP_SERVER.version, '-confs', 'default', '-types', 'jar'],
    ...['-retrieve', join(draft, '[artifact].[ext]')],
  ];
}

/** @param {string} file */
function isGenuine(file) {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex') === LDAP_SERVER.sha256;
  } catch {
    return false;
  }
}

/** @param {string} output */
function lastErrorOf(output) {
  const lines = output.split('\n').map((line) => line.trim());
  return lines.findLast((line) => /error|exception|not found/i.test(line)) ?? 'no jar arrived';
}

/** @param {string} cause */
function failure(cause) {
  return new SetupError(
    `The LDAP server of the tests cannot be fetched from Maven Central: ${cause}. Run the command again once that is solved.`,
  );
}
