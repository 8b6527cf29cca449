#!/usr/bin/env node
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchJars } from '../embedded/maven-jars.mjs';
import { withDeadline } from '../embedded/deadline.mjs';
import { compileScala } from '../embedded/scala-compiler.mjs';
import { together } from '../embedded/together.mjs';
import { HADOOP_JARS } from './hadoop-jars.mjs';
import { writeJar } from './jar.mjs';

const DEADLINE_MS = 5 * 60_000;

/** The sources that are compiled here, by the jar that each becomes. Each has a package of its own. */
const SOURCES = {
  'early-worker.jar': fileURLToPath(new URL('EarlyWorker.scala', import.meta.url)),
  'mount-file-system.jar': fileURLToPath(new URL('MountFileSystem.scala', import.meta.url)),
  'ui-token-filter.jar': fileURLToPath(new URL('UiTokenFilter.scala', import.meta.url)),
  'warm-driver.jar': fileURLToPath(new URL('WarmDriver.scala', import.meta.url)),
};

/** Spark 3 has the servlets of Java EE, from Spark 4 on those of Jakarta EE. The sources are written for the former. */
const SERVLETS = /\bjavax\.servlet\b/g;
const JAKARTA_SERVLETS = 'jakarta.servlet';

/** @typedef {keyof typeof HADOOP_JARS} HadoopVersion */

/**
 * Returns an id of the content of a Spark's folder, which changes whenever a jar or a source does.
 * @param {string} sparkHome
 * @returns {string} 16 hexadecimal digits
 * @throws {Error} if there are no jars for its Hadoop
 */
export function connectorsId(sparkHome) {
  return createHash('sha256')
    .update(JSON.stringify(HADOOP_JARS[hadoopVersionOf(sparkHome)]))
    .update(Buffer.concat(Object.values(SOURCES).map((file) => readFileSync(file))))
    .digest('hex')
    .slice(0, 16);
}

/**
 * Fills a folder with the jars with which jobs reach object stores: Hadoop's connectors, some 50 MB from Maven Central, and the file
 * system of mounts (ADR 0008), compiled with the Scala compiler that Spark ships. Adds the filter that keeps the pages of
 * Spark's daemons closed, the worker that starts together with its master (ADR 0064), and the driver that waits for runs (ADR 0066).
 * @param {object} options
 * @param {string} options.sparkHome a Spark with a Hadoop of `HADOOP_JARS`
 * @param {string} options.javaHome
 * @param {string} options.target folder to make; complete or not at all
 * @param {string} [options.repository] mirror of Maven Central
 * @param {AbortSignal} [options.signal]
 * @throws {Error} if Spark has another Hadoop, a jar cannot be downloaded or has another checksum, or it takes longer than five
 * minutes
 */
export async function makeConnectors({ sparkHome, javaHome, target, repository, signal }) {
  const jars = HADOOP_JARS[hadoopVersionOf(sparkHome)];
  const [folder, name] = [dirname(target), basename(target)];
  mkdirSync(folder, { recursive: true });
  // A set-up that was killed left this.
  for (const left of readdirSync(folder)) {
    if (left.startsWith(`${name}.`)) rmSync(join(folder, left), { recursive: true, force: true });
  }
  const draft = mkdtempSync(`${target}.`);
  try {
    await together(
      withDeadline(DEADLINE_MS, signal),
      (limit) => fetchJars(jars, draft, { repository, signal: limit }),
      (limit) => compile({ sparkHome, javaHome, draft, signal: limit }),
    );
    // Spark may run as another user than the one who prepares it.
    chmodSync(draft, 0o755);
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
  } finally {
    rmSync(draft, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/**
 * @param {string} sparkHome
 * @returns {HadoopVersion}
 * @throws {Error} if there are no jars for it
 */
function hadoopVersionOf(sparkHome) {
  const names = readdirSync(join(sparkHome, 'jars')).map((name) => /^hadoop-client-api-(.+)\.jar$/.exec(name)?.[1]);
  const found = names.find(Boolean);
  const known = /** @type {HadoopVersion[]} */ (Object.keys(HADOOP_JARS)).find((version) => version === found);
  if (known) return known;
  const all = Object.keys(HADOOP_JARS).join(', ');
  throw new Error(`${sparkHome} has Hadoop ${found ?? 'of no known version'}; there are connectors for ${all}`);
}

/** @param {string} sparkHome */
function hasJakartaServlets(sparkHome) {
  return readdirSync(join(sparkHome, 'jars')).some((name) => /^spark-core_[\d.]+-(?:[4-9]|\d\d)\./.test(name));
}

/**
 * @param {{sparkHome: string, javaHome: string, draft: string, signal: AbortSignal}} options draft is the folder to fill
 */
async function compile({ sparkHome, javaHome, draft, signal }) {
  const isJakarta = hasJakartaServlets(sparkHome);
  const [sources, classes] = [join(draft, 'sources'), join(draft, 'classes')];
  for (const folder of [sources, classes]) mkdirSync(folder);
  const compiled = Object.entries(SOURCES).map(([jar, file]) => {
    const text = readFileSync(file, 'utf8');
    const source = join(sources, basename(file));
    writeFileSync(source, isJakarta ? text.replace(SERVLETS, JAKARTA_SERVLETS) : text);
    return { jar, source, packageName: packageOf(text) };
  });
  await compileScala({
    sparkHome,
    javaHome,
    sources: compiled.map(({ source }) => source),
    target: classes,
    signal,
  });
  for (const { jar, packageName } of compiled) writeJar(join(draft, jar), classes, packageName);
  for (const folder of [sources, classes]) rmSync(folder, { recursive: true });
}

/** @param {string} text of a Scala source @returns {string} */
function packageOf(text) {
  const name = /^package (\S+)$/m.exec(text)?.[1];
  if (!name) throw new Error('A source of the connectors names no package.');
  return name;
}

// For images: connectors.mjs SPARK_HOME JAVA_HOME TARGET
if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [sparkHome, javaHome, target] = process.argv.slice(2);
  if (!sparkHome || !javaHome || !target) {
    console.error('Usage: connectors.mjs SPARK_HOME JAVA_HOME TARGET');
    process.exit(2);
  }
  await makeConnectors({
    sparkHome,
    javaHome,
    target: resolve(target),
    repository: process.env.MAVEN_REPOSITORY_URL || undefined,
  });
}
