import { join } from 'node:path';
import { ByHandProcess } from '../by-hand-process.mjs';
import { Livy } from './livy.mjs';
import { pysparkModules } from './pyspark-modules.mjs';
import { SparkConnect } from './spark-connect.mjs';
import { checkResult, EXPRESSION, JAR_CLASS, jobSeconds, PROGRAMS, PYTHON_JOB, SQL_JOB } from './work.mjs';

const SQL_CLASS = 'org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver';
const SESSION = join(PROGRAMS, 'session_by_hand.py');

/** @typedef {import('./turns.mjs').Turn} Turn */

/** Plain Spark and the peers, all with the same installation of Spark and the same master and memory. */
export class PeerSides {
  /** @type {(() => Promise<unknown>)[]} */
  undo = [];

  /**
   * @param {object} options
   * @param {import('../by-hand.mjs').SparkByHand} options.byHand
   * @param {string} options.jar of the job
   * @param {string} options.master
   * @param {string} options.memory of each driver
   * @param {string} options.livyJars folder
   * @param {import('./spark-connect.mjs').ConnectParts} options.connectParts
   * @param {string} options.python that has PySpark
   */
  constructor({ byHand, jar, master, memory, livyJars, connectParts, python }) {
    this.byHand = byHand;
    this.jar = jar;
    this.master = master;
    this.memory = memory;
    this.livyJars = livyJars;
    this.connectParts = connectParts;
    this.python = python;
    this.options = ['--master', master, '--driver-memory', memory, '--conf', 'spark.ui.showConsoleProgress=false'];
  }

  async start() {
    const livy = await Livy.start(this.byHand, {
      jars: this.livyJars,
      master: this.master,
      mayRead: [PROGRAMS, this.byHand.folder],
    });
    this.undo.push(() => livy.end());
    this.livy = livy;
    const connect = await this.startConnect();
    this.undo.push(() => connect.end());
    this.connect = connect;
  }

  startConnect() {
    return SparkConnect.start(this.byHand, { parts: this.connectParts, submitOptions: this.options });
  }

  /** @param {'python' | 'jar' | 'sql'} kind @returns {Promise<Turn[]>} */
  async plainJob(kind) {
    const programs = {
      python: [PYTHON_JOB],
      jar: ['--class', JAR_CLASS, this.jar],
      // This is what spark-sql does.
      sql: ['--class', SQL_CLASS, '-f', SQL_JOB],
    };
    const run = await this.byHand.submit([...this.options, ...programs[kind]]);
    return [{ side: 'plain', seconds: { [kind]: jobSeconds(run) } }];
  }

  /** @param {'python' | 'jar'} kind @returns {Promise<Turn[]>} */
  async livyBatch(kind) {
    const programs = { python: { file: PYTHON_JOB }, jar: { file: this.jar, className: JAR_CLASS } };
    const conf = { 'spark.ui.showConsoleProgress': 'false' };
    const run = await running(this.livy).run({ ...programs[kind], driverMemory: this.memory, conf });
    return [{ side: 'livy', seconds: { [kind]: jobSeconds(run) } }];
  }

  /** The Python job as a client of the server that runs. @returns {Promise<Turn[]>} */
  async connectJob() {
    const run = await running(this.connect).run(PYTHON_JOB);
    return [{ side: 'connect', seconds: { python: jobSeconds(run) } }];
  }

  /** @returns {Promise<Turn[]>} */
  async plainSession() {
    const { byHand, python } = this;
    const env = {
      ...byHand.env,
      PYTHONPATH: pysparkModules(byHand.sparkHome, join(byHand.folder, 'modules')),
      PYSPARK_SUBMIT_ARGS: `${this.options.join(' ')} pyspark-shell`,
    };
    const { first, again } = await this.session({ python, env });
    return [{ side: 'plain', seconds: { first, own: first, again } }];
  }

  /** Sessions of two servers: of the one that runs for all, and of one that is started for this session alone. @returns {Promise<Turn[]>} */
  async connectSession() {
    const { first, again } = await this.session(running(this.connect));
    const began = performance.now();
    const own = await this.startConnect();
    const started = (performance.now() - began) / 1000;
    try {
      const session = await this.session(own);
      return [{ side: 'connect', seconds: { first, own: started + session.first, again } }];
    } finally {
      await own.end();
    }
  }

  /**
   * @param {{python: string, env: Record<string, string>}} client
   * @returns {Promise<{first: number, again: number}>} seconds from the start of the client to its first result, and of another
   */
  async session({ python, env }) {
    const { folder: cwd, signal } = this.byHand;
    const began = performance.now();
    const client = new ByHandProcess([python, SESSION], { env, cwd, signal, log: join(cwd, 'session.log') });
    try {
      checkResult((await client.ask('evaluate', EXPRESSION)).text);
      const first = performance.now();
      checkResult((await client.ask('evaluate', EXPRESSION)).text);
      return { first: (first - began) / 1000, again: (performance.now() - first) / 1000 };
    } finally {
      await client.close();
    }
  }

  async close() {
    for (const undo of this.undo.reverse()) await undo();
  }
}

/** @template T @param {T | undefined} server @returns {T} */
function running(server) {
  if (server === undefined) throw new Error('The peers have not been started.');
  return server;
}
