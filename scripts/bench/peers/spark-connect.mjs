import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { withDeadline } from '../../embedded/deadline.mjs';
import { waitForLock } from '../../embedded/lock.mjs';
import { fetchJars } from '../../embedded/maven-jars.mjs';
import { freePort } from '../../embedded/ports.mjs';
import { runCommand } from '../../embedded/processes.mjs';
import { environmentOnce } from '../../embedded/python-environment.mjs';
import { pysparkModules } from './pyspark-modules.mjs';
import { startServer } from './server-by-hand.mjs';

/** The newest for Scala 2.12 that Maven Central was seen to have. Every Spark 3.5 loads it. */
export const CONNECT_VERSION = '3.5.7';
const JAR_NAME = `spark-connect_2.12-${CONNECT_VERSION}.jar`;
/** SHA-256 of the jar by its path in a Maven repository. */
export const CONNECT_JAR = {
  [`org/apache/spark/spark-connect_2.12/${CONNECT_VERSION}/${JAR_NAME}`]:
    '15366e21273a874c760b51fa00743a2acb8fa78642cc35d7a076a3ade0c5eef6',
};
const FETCH_DEADLINE_MS = 5 * 60_000;
const RUN_DEADLINE_MS = 240_000;

/** @typedef {{jar: string, python: string}} ConnectParts the server's jar, and a Python that has what the client needs */

/**
 * Downloads the server's jar (14 MB from Maven Central) and the client's packages, once for each version of them.
 * @param {string} runtimeDir
 * @param {import('../../embedded/runtime.mjs').Runtime} runtime
 * @param {{print: (text: string) => void, signal: AbortSignal}} options
 * @returns {Promise<ConnectParts>}
 */
export async function prepareConnect(runtimeDir, { python }, { print, signal }) {
  const folder = join(resolve(runtimeDir), 'peers');
  mkdirSync(folder, { recursive: true });
  const lock = await waitForLock(join(folder, 'connect.lock'), { signal });
  try {
    const jar = join(folder, JAR_NAME);
    if (!existsSync(jar)) {
      print(`Fetching Spark Connect ${CONNECT_VERSION}`);
      const draft = mkdtempSync(`${jar}.`);
      try {
        const repository = process.env.MAVEN_REPOSITORY_URL || undefined;
        const limit = withDeadline(FETCH_DEADLINE_MS, signal);
        await fetchJars(CONNECT_JAR, draft, { repository, signal: limit });
        renameSync(join(draft, JAR_NAME), jar);
      } finally {
        rmSync(draft, { recursive: true, force: true });
      }
    }
    const options = { logFile: join(folder, 'install.log'), env: process.env, onProgress: print, signal };
    const environment = await environmentOnce(folder, 'connect', python, options);
    return { jar, python: join(environment, 'bin', 'python') };
  } finally {
    lock.release();
  }
}

/** A server of Spark Connect on this machine: one JVM for the sessions of all its users. */
export class SparkConnect {
  /** @param {{port: number, python: string, env: Record<string, string>, end: () => Promise<void>, signal: AbortSignal}} server */
  constructor({ port, python, env, end, signal }) {
    this.python = python;
    this.signal = signal;
    this.env = { ...env, SPARK_REMOTE: `sc://127.0.0.1:${port}` };
    this.end = end;
  }

  /**
   * @param {import('../by-hand.mjs').SparkByHand} byHand whose Spark and environment the server has
   * @param {{parts: ConnectParts, submitOptions: string[]}} options
   */
  static async start(byHand, { parts: { jar, python }, submitOptions }) {
    const folder = join(byHand.folder, 'connect');
    mkdirSync(folder, { recursive: true });
    // The client is a part of PySpark, while the packages that it needs have an environment of their own.
    const modules = pysparkModules(byHand.sparkHome, join(folder, 'modules'));
    const port = await freePort();
    const end = await startServer({
      title: 'Spark Connect',
      command: [
        join(byHand.sparkHome, 'bin', 'spark-submit'),
        ...[...submitOptions, '--conf', `spark.connect.grpc.binding.port=${port}`, '--jars', jar],
        ...['--class', 'org.apache.spark.sql.connect.service.SparkConnectServer', 'spark-internal'],
      ],
      port,
      log: join(folder, 'server.log'),
      cwd: folder,
      env: byHand.env,
      signal: byHand.signal,
    });
    const env = { ...byHand.env, PYTHONPATH: modules, PYSPARK_PYTHON: python };
    return new SparkConnect({ port, python, env, end, signal: byHand.signal });
  }

  /**
   * Runs a script as a client to its end.
   * @param {string} script
   * @returns {Promise<{ms: number, output: string}>} its duration and its output
   */
  async run(script) {
    const signal = withDeadline(RUN_DEADLINE_MS, this.signal);
    const started = performance.now();
    const { code, output } = await runCommand(this.python, [script], { env: this.env, signal });
    const ms = performance.now() - started;
    if (code !== 0) throw new Error(`A client of Spark Connect ended with ${code}:\n${output.slice(-3_000)}`);
    return { ms, output };
  }
}
