import { readdirSync } from 'node:fs';
import invariants from '../../test/harness/invariants.cjs';
import { isUnexpected } from './load.mjs';

/** The number of rows of a violation that are printed. */
const SHOWN = 10;

/**
 * @typedef {import('./platform-under-chaos.mjs').PlatformUnderChaos} PlatformUnderChaos
 * @typedef {import('./load.mjs').Load} Load
 *
 * @typedef {object} Violation
 * @property {string} name of the invariant
 * @property {number} count
 * @property {unknown[]} rows the first of them
 */

/** Queries for effects without exactly one audit row of their operation. */
const AUDITS = [
  {
    name: 'each run has one row of the audit log',
    sql: `SELECT run_id, count(audit_event_id) FROM runs r LEFT JOIN audit_events a
        ON a.operation = 'createJob' AND a.outcome = 'done' AND (a.subject->>'job_id')::bigint = r.run_id
      GROUP BY run_id HAVING count(audit_event_id) <> 1`,
  },
  {
    name: 'each stop of a run has one row of the audit log',
    sql: `SELECT run_id, count(audit_event_id) FROM runs r LEFT JOIN audit_events a
        ON a.operation = 'killJob' AND a.outcome = 'done' AND (a.subject->>'spark_job_instance_id')::bigint = r.run_id
      GROUP BY run_id HAVING count(audit_event_id) <>
        (SELECT count(*) FROM run_states s WHERE s.run_id = r.run_id AND s.reason LIKE 'Stop requested by %')`,
  },
  {
    name: 'each cluster has one row of the audit log for its creation',
    sql: `SELECT cluster_id, count(audit_event_id) FROM clusters c LEFT JOIN audit_events a
        ON a.operation = 'createCluster' AND a.outcome = 'done' AND (a.subject->>'cluster_id')::bigint = c.cluster_id
      GROUP BY cluster_id HAVING count(audit_event_id) <> 1`,
  },
  {
    name: 'each operation on a cluster has one row of the audit log',
    sql: `WITH effects AS (
        SELECT cluster_id, split_part(reason, ' ', 1) AS operation, count(*) AS count FROM cluster_states
        WHERE reason IN ('start requested', 'stop requested', 'destroy requested') GROUP BY 1, 2),
      audited AS (
        SELECT (subject->>'engine_cluster_instance_id')::bigint AS cluster_id, replace(operation, 'Cluster', '') AS operation,
          count(*) AS count FROM audit_events
        WHERE operation IN ('startCluster', 'stopCluster', 'destroyCluster') AND outcome = 'done' GROUP BY 1, 2)
      SELECT * FROM effects FULL JOIN audited USING (cluster_id, operation)
      WHERE effects.count IS DISTINCT FROM audited.count`,
  },
];

/** Checks the invariants and collects violations. */
export class Invariants {
  /** @type {Map<string, Violation>} */
  #violations = new Map();

  /** @param {PlatformUnderChaos} platform */
  constructor(platform) {
    this.platform = platform;
  }

  /** @returns {Violation[]} */
  get violations() {
    return [...this.#violations.values()];
  }

  /** Checks the invariants that hold at every moment, also during faults. */
  always() {
    return this.#query(invariants.ALWAYS, [null]);
  }

  /** True if no work is in progress. */
  async isAtRest() {
    for (const { sql } of invariants.AT_REST) {
      if ((await this.platform.sql(sql, [null])).length > 0) return false;
    }
    return true;
  }

  /** Checks the invariants that hold once no work is in progress. @param {Load} load */
  async atRest(load) {
    await this.always();
    await this.#query(invariants.AT_REST, [null]);
    await this.#query(AUDITS, []);
    this.#note('every response is an expected one', load.effects.filter(isUnexpected));
    const done = await this.platform.sql(
      `SELECT count(*)::int AS done FROM runs HAVING count(*) FILTER (WHERE status = 'DONE') = 0`,
    );
    this.#note('at least one job was done, so the faults could break something', done);
    await this.#runsOfKeys(load);
    await this.#executions();
    await this.#machines();
  }

  /** Checks the invariants that hold once every cluster is destroyed and no process of the platform runs. */
  async atEnd() {
    const processes = await this.platform.nodeProcesses();
    this.#note('no process of a node is left', processes);
    // The lock and the ids of the folder belong to no node, and the next worker removes the leftovers of a node that was killed
    // while it started.
    const isOfNode = (/** @type {string} */ name) =>
      !['.lock', '.folder-ids'].includes(name) && !name.startsWith('.confinement-');
    const files = readdirSync(this.platform.nodesDir).filter(isOfNode);
    this.#note('no folder or lock of a node is left', files);
    const locks = `SELECT l.locktype, l.objid, l.pid, a.application_name FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)
      WHERE l.locktype = 'advisory'`;
    this.#note('no advisory lock is left', await this.platform.sql(locks));
  }

  /** Each submission with a response made one run, each other at most one, and no other run exists. @param {Load} load */
  async #runsOfKeys({ effects }) {
    /** @type {{run_id: string, key: string}[]} */
    const runs = await this.platform.sql(`SELECT run_id, split_part(arguments, ' ', 1) AS key FROM runs`);
    /** @type {Map<string, string[]>} ids of runs */
    const ofKey = new Map();
    for (const { run_id: id, key } of runs) ofKey.set(key, [...(ofKey.get(key) ?? []), id]);
    const submissions = effects.filter(({ path }) => path.endsWith('/spark/job'));
    const wrong = submissions.flatMap(({ key, status, body }) => {
      const made = ofKey.get(key) ?? [];
      ofKey.delete(key);
      const holds = status === 200 ? made.length === 1 && made[0] === String(body.job_id) : made.length <= 1;
      return holds ? [] : [{ key, status, answered: body, made }];
    });
    this.#note('each Idempotency-Key created exactly one run', [...wrong, ...ofKey]);
  }

  async #executions() {
    const executions = this.platform.spark.executions();
    /** @type {{run_id: string, status: string, node_id: string | null}[]} */
    const runs = await this.platform.sql('SELECT run_id, status, node_id FROM runs');
    const wrong = runs.flatMap((run) => {
      const times = executions.get(Number(run.run_id)) ?? 0;
      const holds = run.status === 'DONE' ? times === 1 : times <= (run.node_id === null ? 0 : 1);
      return holds ? [] : [{ ...run, times }];
    });
    this.#note('each run was executed at most once, and a DONE one once', wrong);
  }

  /** Each running node has one supervisor and one agent; any other node has none. */
  async #machines() {
    const processes = await this.platform.nodeProcesses();
    /** @type {{token: string, status: string, cluster: string}[]} */
    const nodes = await this.platform.sql(
      `SELECT n.token::text, n.status, c.status AS cluster FROM cluster_nodes n JOIN clusters c USING (cluster_id)
       WHERE n.to_date = 'infinity' AND n.status IN ('RUNNING', 'STOPPED')`,
    );
    const wrong = nodes.flatMap((node) => {
      const own = processes.filter(({ token }) => token === node.token).map(({ role }) => role);
      const expected = node.status === 'RUNNING' ? 1 : 0;
      const count = (/** @type {string} */ role) => own.filter((other) => other === role).length;
      return count('supervisor') === expected && count('agent') === expected ? [] : [{ ...node, own }];
    });
    this.#note('each running node has one supervisor and one agent, a stopped one none', wrong);
  }

  /** @param {readonly {name: string, sql: string}[]} checks @param {unknown[]} parameters */
  async #query(checks, parameters) {
    for (const { name, sql } of checks) this.#note(name, await this.platform.sql(sql, parameters));
  }

  /** Keeps the first occurrence of a violation. @param {string} name @param {unknown[]} rows that contradict the invariant */
  #note(name, rows) {
    if (rows.length === 0 || this.#violations.has(name)) return;
    this.#violations.set(name, { name, count: rows.length, rows: rows.slice(0, SHOWN) });
  }
}
