#!/usr/bin/env node
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withDeadline } from '../embedded/deadline.mjs';
import { compileScala } from '../embedded/scala-compiler.mjs';

const DEADLINE_MS = 5 * 60_000;
const SOURCE = fileURLToPath(new URL('ScalaKernel.scala', import.meta.url));

/** The interpreter of Apache Toree, in the folder of the kernel. */
export const TOREE_JAR = 'toree.jar';

/** Identifies the source that is compiled here. */
export const SCALA_KERNEL_ID = createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 16);

/**
 * Compiles the kernel of Scala notebooks (ADR 0034) into the folder that has the interpreter.
 * @param {object} options
 * @param {string} options.sparkHome a Spark on Scala 2.12
 * @param {string} options.javaHome
 * @param {string} options.folder
 * @param {AbortSignal} [options.signal]
 * @throws {Error} if it does not compile with this Spark, or takes longer than five minutes
 */
export async function compileScalaKernel({ sparkHome, javaHome, folder, signal }) {
  await compileScala({
    sparkHome,
    javaHome,
    sources: [SOURCE],
    target: join(folder, 'scala-kernel.jar'),
    classPath: [join(folder, TOREE_JAR)],
    signal: withDeadline(DEADLINE_MS, signal),
  });
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
