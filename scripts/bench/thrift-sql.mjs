import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../embedded/ports.mjs';
import { endProcess, isRunning, processRef, tailOf } from '../embedded/processes.mjs';
import { DRIVER_MEMORY } from './interactive-runs.mjs';

const ROWS = 1_000_000;
const DEADLINE_MS = 120_000;
const TABLE = [
  'drop table if exists bench',
  `create table bench using parquet as select id, concat('row ', id) as name from range(${ROWS})`,
];
const ALL = ['select id, name from bench'];

/**
 * Prepares Beeline, which reads the same rows from a job that serves SQL and from Spark's own Thrift server on this machine.
 * @param {import('./interactive-runs.mjs').InteractiveRuns} runs
 */
export async function prepareThriftSql(runs) {
  const { platform } = runs;
  const { session } = platform;
  /** @type {(() => Promise<unknown>)[]} */
  const undo = [];
  const close = async () => {
    for (const each of undo.reverse()) await each();
  };
  try {
    const job = await runs.startJob('bench-sql', { job_type: 'THRIFT_SQL' });
    undo.push(job.end);
    const server = await startServer(runs);
    undo.push(server.end);
    const baseline = new Beeline(runs, { url: server.url, user: 'bench', password: 'bench' });
    const url = new URL(`${session.baseUrl}/api/v1${job.path}/thrift`);
    const product = new Beeline(runs, { url, user: platform.administrator.username, password: session.token ?? '' });
    for (const client of [baseline, product]) await client.run(TABLE, ROWS);
    return {
      /** @param {number} rows of one fetch */
      sides: (rows) => ({ baseline: () => baseline.seconds(ALL, rows), product: () => product.seconds(ALL, rows) }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Starts Spark's Thrift server as from a shell, with everything that the platform provides for the job.
 * @param {import('./interactive-runs.mjs').InteractiveRuns} runs
 */
async function startServer(runs) {
  const { platform, signal } = runs;
  const folder = join(platform.folder, 'sql-by-hand');
  const { env, cwd } = runs.startedAs('thrift_bridge.py', folder);
  const port = await freePort();
  const options = env.PYSPARK_SUBMIT_ARGS?.replace(/ pyspark-shell$/, '');
  const settings = {
    'transport.mode': 'http',
    'thrift.http.port': String(port),
    'thrift.bind.host': '127.0.0.1',
  };
  const words = Object.entries(settings).map(([key, value]) => `--hiveconf hive.server2.${key}=${value}`);
  const main = 'org.apache.spark.sql.hive.thriftserver.HiveThriftServer2';
  const command = `exec "$SPARK_HOME/bin/spark-submit" ${options} --driver-memory ${DRIVER_MEMORY} --class ${main} spark-internal ${words.join(' ')}`;
  const log = join(folder, 'server.log');
  const output = openSync(log, 'w');
  const child = spawn('/bin/sh', ['-c', command], { env, cwd, detached: true, stdio: ['ignore', output, output] });
  closeSync(output);
  child.on('error', () => {});
  const ref = child.pid ? processRef(child.pid) : null;
  const end = () => endProcess(ref);
  const url = new URL(`http://127.0.0.1:${port}/cliservice`);
  for (const deadline = Date.now() + DEADLINE_MS; ; await delay(100, undefined, { signal })) {
    if (await fetch(url).catch(() => null)) return { url, end };
    if (isRunning(ref) && Date.now() < deadline) continue;
    await end();
    throw new Error(`Spark's Thrift server does not listen:\n${tailOf(log, 20)}`);
  }
}

/** Beeline, the client of Spark's own distribution. */
class Beeline {
  /**
   * @param {import('./interactive-runs.mjs').InteractiveRuns} runs
   * @param {{url: URL, user: string, password: string}} server
   */
  constructor({ platform, signal }, { url, user, password }) {
    this.runtime = platform.runtime;
    this.signal = signal;
    this.url = `jdbc:hive2://${url.host}/;transportMode=http;httpPath=${url.pathname.slice(1)}`;
    this.login = ['-n', user, '-p', password];
  }

  /**
   * Returns the seconds that Beeline reports for a statement up to its last row.
   * @param {string[]} statements the last one returns all rows of the table
   * @param {number} rows of one fetch
   */
  async seconds(statements, rows) {
    const said = await this.run(statements, rows);
    const [, count, seconds] = /([\d,]+) rows selected \(([\d.,]+) seconds\)/.exec(said) ?? [];
    if (count !== ROWS.toLocaleString('en')) throw new Error(`Beeline did not read all rows:\n${said.slice(-2_000)}`);
    return Number(seconds?.replaceAll(',', ''));
  }

  /** @param {string[]} statements @param {number} rows @returns {Promise<string>} its messages without the rows */
  async run(statements, rows) {
    const { javaHome, sparkHome } = this.runtime;
    const options = ['--incremental=true', '--outputformat=csv2', '--showHeader=false'];
    const words = [
      ...options,
      '-u',
      `${this.url};fetchSize=${rows}`,
      ...this.login,
      ...statements.flatMap((one) => ['-e', one]),
    ];
    const child = spawn(
      join(javaHome, 'bin', 'java'),
      ['-Xmx512m', '-cp', join(sparkHome, 'jars', '*'), 'org.apache.hive.beeline.BeeLine', ...words],
      { stdio: ['ignore', 'ignore', 'pipe'], signal: AbortSignal.any([this.signal, AbortSignal.timeout(DEADLINE_MS)]) },
    );
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => (said = (said + text).slice(-20_000)));
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`Beeline ended with ${code}:\n${said.slice(-2_000)}`);
    return said;
  }
}
