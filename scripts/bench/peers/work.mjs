import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileScala } from '../../embedded/scala-compiler.mjs';

/** The folder of the programs. */
export const PROGRAMS = fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, '');
export const PYTHON_JOB = join(PROGRAMS, 'small_job.py');
export const SQL_JOB = join(PROGRAMS, 'small_job.sql');
export const JAR_CLASS = 'bench.SmallJob';
/** A result of Spark, and its text. */
export const EXPRESSION = 'spark.range(1000).selectExpr("sum(id)").first()[0]';
const EXPRESSION_RESULT = '499500';
/** A cell that fails if the result is wrong. */
export const CELL = `assert ${EXPRESSION} == ${EXPRESSION_RESULT}`;

const ROWS = 100_000;
const GROUPS = 7;
const RESULT = Array.from({ length: ROWS }, (_, id) => (id % GROUPS) * id).reduce((sum, value) => sum + value, 0);

/**
 * @param {import('../../embedded/runtime.mjs').Runtime} runtime
 * @param {string} folder
 * @param {AbortSignal} signal
 * @returns {Promise<string>} the jar of the job
 */
export async function compileJob({ sparkHome, javaHome }, folder, signal) {
  mkdirSync(folder, { recursive: true });
  const jar = join(folder, 'small-job.jar');
  await compileScala({ sparkHome, javaHome, sources: [join(PROGRAMS, 'SmallJob.scala')], target: jar, signal });
  return jar;
}

/** Returns the seconds of a job. @param {{ms: number, output: string}} run @throws {Error} if its result is wrong */
export function jobSeconds({ ms, output }) {
  // Lines of the log may follow without a line break, because the output has both streams of the process.
  if (output.includes(`RESULT ${RESULT}`)) return ms / 1000;
  throw new Error(`The job did not print RESULT ${RESULT}:\n${output.slice(-3_000)}`);
}

/** @param {string} text @throws {Error} if it is not the result of the expression */
export function checkResult(text) {
  if (text !== EXPRESSION_RESULT) throw new Error(`The expression gave ${text}, not ${EXPRESSION_RESULT}.`);
}
