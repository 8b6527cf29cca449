import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../embedded/ports.mjs';
import { endProcess, isRunning, processRef, tailOf } from '../embedded/processes.mjs';
import { DRIVER_MEMORY } from './interactive-runs.mjs';
import { loadTesting } from './testing.mjs';

const ROWS = 1_000_000;
const DEADLINE_MS = 120_000;
const TABLE = [
  'drop table if exists bench',
  `create table bench using parquet as select id, concat('row ', id) as name from range(${ROWS})`,
];
/** Begins a list of 64-bit integers in an answer: the first is that of the first column. */
const LONGS = Buffer.from([15, 0, 1, 10]);

/** @typedef {typeof import('../../libs/testing/hive-messages.js')} HiveMessages */

/**
 * The same rows fetched from a job that serves SQL, and from Spark's own Thrift server, which listens on this machine.
 * @param {import('./interactive-runs.mjs').InteractiveRuns} runs
 */
export async function prepareThriftSql(runs) {
  const { platform } = runs;
  const { session } = platform;
  /** @type {HiveMessages} */
  const messages = await loadTesting('hive-messages');
  /** @type {(() => Promise<unknown>)[]} */
  const undo = [];
  const close = async () => {
    for (const each of undo.reverse()) await each();
  };
  try {
    const job = await runs.startJob('bench-sql', { job_type: 'THRIFT_SQL' });
    undo.push(job.end);
    const product = new HiveClient(messages, new URL(`${session.baseUrl}/api/v1${job.path}/thrift`), {
      authorization: `Bearer ${session.token}`,
    });
    const server = await startServer(runs);
    undo.push(server.end);
    const baseline = new HiveClient(messages, server.url, {
      authorization: `Basic ${Buffer.from('bench:bench').toString('base64')}`,
    });
    for (const client of [baseline, product]) {
      undo.push(() => client.close());
      await client.open();
      for (const statement of TABLE) await client.execute(statement);
    }
    return {
      /** @param {number} rows of one fetch */
      sides: (rows) => ({ baseline: () => baseline.fetched(rows), product: () => product.fetched(rows) }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Spark's Thrift server as it would be started at a shell, with all that the platform gives the job.
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

/** One session of HiveServer2's protocol over HTTP. */
class HiveClient {
  #connections = new Agent({ keepAlive: true, maxSockets: 1 });
  /** @type {import('../../libs/testing/hive-messages.js').HiveHandle | undefined} */
  #session;

  /** @param {HiveMessages} messages @param {URL} url @param {Record<string, string>} headers */
  constructor(messages, url, headers) {
    this.messages = messages;
    this.url = url;
    this.headers = headers;
  }

  async open() {
    this.#session = this.messages.handleIn(await this.post(this.messages.openSession('bench')));
  }

  /** @param {string} statement */
  async execute(statement) {
    if (this.#session === undefined) throw new Error('The session has not been opened.');
    return this.messages.handleIn(await this.post(this.messages.executeStatement(this.#session, statement)));
  }

  /**
   * How long it takes to fetch the rows of the table that the server has ready, so many at a time; seconds.
   * @param {number} rows
   */
  async fetched(rows) {
    const operation = await this.execute('select id, name from bench order by id');
    const message = this.messages.fetchResults(operation, rows);
    const began = performance.now();
    for (let at = 0; at < ROWS; at += rows) {
      const answer = await this.post(message);
      const begin = answer.indexOf(LONGS) + LONGS.length;
      const count = answer.readInt32BE(begin);
      const [first, last] = [answer.readBigInt64BE(begin + 4), answer.readBigInt64BE(begin + 4 + 8 * (count - 1))];
      if (count !== rows || first !== BigInt(at) || last !== BigInt(at + rows - 1)) {
        throw new Error(`Instead of ${rows} rows from ${at} there are ${count}, from ${first} to ${last}.`);
      }
    }
    const seconds = (performance.now() - began) / 1000;
    await this.post(this.messages.closeOperation(operation));
    return seconds;
  }

  /** @param {Buffer} message @returns {Promise<Buffer>} */
  post(message) {
    const headers = { ...this.headers, 'content-type': 'application/x-thrift', 'content-length': message.length };
    return new Promise((resolve, reject) => {
      const sent = request(this.url, { method: 'POST', agent: this.#connections, headers }, (answer) => {
        /** @type {Buffer[]} */
        const parts = [];
        answer.on('data', (/** @type {Buffer} */ part) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          const body = Buffer.concat(parts);
          if (answer.statusCode === 200) resolve(body);
          else reject(new Error(`The message was answered ${answer.statusCode}: ${body.toString('utf8', 0, 500)}`));
        });
      });
      sent.setTimeout(DEADLINE_MS, () => sent.destroy(new Error('The message was not answered in time.')));
      sent.on('error', reject);
      sent.end(message);
    });
  }

  async close() {
    this.#connections.destroy();
  }
}
