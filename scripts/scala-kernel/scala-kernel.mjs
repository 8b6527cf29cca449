#!/usr/bin/env node
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withDeadline } from '../embedded/deadline.mjs';
import { compileScala } from '../embedded/scala-compiler.mjs';

const DEADLINE_MS = 5 * 60_000;
const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** Each version of Scala has a folder for what differs. */
const COMMON_SOURCES = ['ScalaKernel.scala', 'CellInterpreter.scala'];
const replSource = (/** @type {string} */ scalaVersion) => `scala-${scalaVersion}/Repl.scala`;

/** Identifies the sources that are compiled here. */
export const SCALA_KERNEL_ID = [...COMMON_SOURCES, replSource('2.12'), replSource('2.13')]
  .reduce((hash, name) => hash.update(readFileSync(join(FOLDER, name))), createHash('sha256'))
  .digest('hex')
  .slice(0, 16);

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
    sources: [...COMMON_SOURCES, replSource(scalaVersionOf(sparkHome))].map((name) => join(FOLDER, name)),
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
