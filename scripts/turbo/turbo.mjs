#!/usr/bin/env node
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withDeadline } from '../embedded/deadline.mjs';
import { fetchJars } from '../embedded/maven-jars.mjs';

const DEADLINE_MS = 5 * 60_000;

/** The jar of DataFusion Comet for each Spark, with SHA-256; `turbo_version` of the lookups has its version. */
export const TURBO_JARS = {
  3.5: {
    path: 'org/apache/datafusion/comet-spark-spark3.5_2.12/0.12.0/comet-spark-spark3.5_2.12-0.12.0.jar',
    sha256: '4ef25ed0da6816e18b0b7711b82e9807d62a0330a1e89aa3f09a1bbb005c9424',
  },
  4.1: {
    path: 'org/apache/datafusion/comet-spark-spark4.1_2.13/1.2.0/comet-spark-spark4.1_2.13-1.2.0.jar',
    sha256: '5055c43dca9e8cce83c33b1ff25646d1436c94698ca48beb3475bf60843b8d37',
  },
};

/**
 * Returns the name of the turbo jar for a Spark; null if there is none.
 * @param {string} sparkVersion
 * @returns {string | null}
 */
export function turboJarName(sparkVersion) {
  const jar = jarFor(sparkVersion);
  return jar ? basename(jar.path) : null;
}

/**
 * Downloads the turbo jar, 70 to 100 MB from Maven Central.
 * @param {object} options
 * @param {string} options.sparkVersion one that has turbo
 * @param {string} options.target file to make; complete or not at all
 * @param {string} [options.repository] mirror of Maven Central
 * @param {AbortSignal} [options.signal]
 * @throws {Error} if the Spark has none, it cannot be downloaded or has another checksum, or it takes longer than five minutes
 */
export async function fetchTurbo({ sparkVersion, target, repository, signal }) {
  const jar = jarFor(sparkVersion);
  if (!jar) throw new Error(`Spark ${sparkVersion} has no turbo`);
  const [folder, name] = [dirname(target), basename(target)];
  mkdirSync(folder, { recursive: true });
  // A set-up that was killed left this.
  for (const left of readdirSync(folder)) {
    if (left.startsWith(`${name}.`)) rmSync(join(folder, left), { recursive: true, force: true });
  }
  const draft = mkdtempSync(`${target}.`);
  try {
    await fetchJars({ [jar.path]: jar.sha256 }, draft, { repository, signal: withDeadline(DEADLINE_MS, signal) });
    const file = join(draft, basename(jar.path));
    // Spark may run as another user than the one who prepares it.
    chmodSync(file, 0o644);
    renameSync(file, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** @param {string} sparkVersion @returns {{path: string, sha256: string} | undefined} */
function jarFor(sparkVersion) {
  return Object.entries(TURBO_JARS).find(([version]) => sparkVersion.startsWith(`${version}.`))?.[1];
}

// For images: turbo.mjs SPARK_VERSION TARGET
if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [sparkVersion, target] = process.argv.slice(2);
  if (!sparkVersion || !target) {
    console.error('Usage: turbo.mjs SPARK_VERSION TARGET');
    process.exit(2);
  }
  const repository = process.env.MAVEN_REPOSITORY_URL || undefined;
  if (!existsSync(target)) await fetchTurbo({ sparkVersion, target: resolve(target), repository });
}
