#!/usr/bin/env node
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withDeadline } from '../embedded/deadline.mjs';
import { compileScala } from '../embedded/scala-compiler.mjs';

const DEADLINE_MS = 5 * 60_000;
const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** The sources for one version of Scala; what the versions have in different forms is in a folder for each. */
const sourcesFor = (/** @type {string} */ scalaVersion) =>
  ['ScalaKernel.scala', 'CellInterpreter.scala', `scala-${scalaVersion}/Repl.scala`].map((name) => join(FOLDER, name));

/**
 * Identifies the sources that are compiled for a Spark.
 * @param {string} sparkHome
 */
export function scalaKernelId(sparkHome) {
  const hash = createHash('sha256');
  for (const source of sourcesFor(scalaVersionOf(sparkHome))) hash.update(readFileSync(source));
  return hash.digest('hex').slice(0, 16);
}

/**
 * Compiles the kernel of Scala notebooks (ADR 0081).
 * @param {object} options
 * @param {string} options.sparkHome
 * @param {string} options.javaHome
 * @param {string} options.folder
 * @param {AbortSignal} [options.signal]
 * @throws {Error} if it does not compile with this Spark, or takes longer than five minutes
 */
export async function compileScalaKernel({ sparkHome, javaHome, folder, signal }) {
  await compileScala({
    sparkHome,
    javaHome,
    sources: sourcesFor(scalaVersionOf(sparkHome)),
    target: join(folder, 'scala-kernel.jar'),
    signal: withDeadline(DEADLINE_MS, signal),
  });
}

/**
 * @param {string} sparkHome
 * @returns {string} such as `2.13`
 */
function scalaVersionOf(sparkHome) {
  const library = readdirSync(join(sparkHome, 'jars')).map((name) => /^scala-library-(\d+\.\d+)\./.exec(name)?.[1]);
  const version = library.find((found) => found !== undefined);
  if (version === undefined) throw new Error(`${sparkHome} has no library of Scala.`);
  return version;
}

// For images: scala-kernel.mjs SPARK_HOME JAVA_HOME FOLDER
if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [sparkHome, javaHome, folder] = process.argv.slice(2);
  if (!sparkHome || !javaHome || !folder) {
    console.error('Usage: scala-kernel.mjs SPARK_HOME JAVA_HOME FOLDER');
    process.exit(2);
  }
  await compileScalaKernel({ sparkHome, javaHome, folder: resolve(folder) });
}
