import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { measure } from './comparison.mjs';
import { percentile } from './percentile.mjs';
import { ask, MeasuringProcesses } from './processes.mjs';

const NODES = 1_000;
const CLUSTERS = 100;
const SLOTS_OF_NODE = 2;
const AGENTS = fileURLToPath(new URL('./agents-client.mjs', import.meta.url));

/** The control plane needs this long to spread the agents' first polls, which all arrive at once. */
const WARM_UP_SECONDS = 30;
const IDLE_SECONDS = 50;
const PER_SECOND = 10;
const SECONDS = 40;
/** Runs that wait for a slot, in addition to those that fill all slots. */
const WAITING = 100_000;
const FILL_PER_SECOND = 20;
const GROWTH_WARM_UP_SECONDS = 60;
const GROWTH_MINUTES = 10;
const SAMPLES_PER_MINUTE = 6;
const MIB = 1024 ** 2;
/** Clock ticks of /proc. */
const TICKS_PER_SECOND = 100;

/**
 * Inserts a cloud environment like that of the cluster for which no worker creates nodes: a worker would find that these nodes
 * have no machine. Parameter: the cluster.
 */
const FILL_CLOUD_ENV = `INSERT INTO cloud_envs OVERRIDING SYSTEM VALUE
  SELECT copy.* FROM cloud_envs e JOIN clusters c ON c.cloud_env_id = e.cloud_env_id
    CROSS JOIN LATERAL jsonb_populate_record(e, jsonb_build_object(
      'cloud_env_id', nextval(pg_get_serial_sequence('cloud_envs', 'cloud_env_id')), 'name', 'bench-elsewhere',
      'endpoint', 'https://elsewhere.invalid')) copy
  WHERE c.cluster_id = $1 RETURNING cloud_env_id`;

/** Copies a cluster in RUNNING. Parameters: the cluster, the count, slots of a node, the cloud environment. */
const FILL_CLUSTERS = `WITH made AS (INSERT INTO clusters OVERRIDING SYSTEM VALUE
  SELECT copy.* FROM clusters c CROSS JOIN generate_series(1, $2::int) n
    CROSS JOIN LATERAL jsonb_populate_record(c, jsonb_build_object(
      'cluster_id', nextval(pg_get_serial_sequence('clusters', 'cluster_id')), 'name', 'bench-' || n,
      'status', 'RUNNING', 'max_parallel_jobs', $3::int, 'cloud_env_id', $4::bigint)) copy
  WHERE c.cluster_id = $1 RETURNING cluster_id, status),
  entries AS (INSERT INTO cluster_states (cluster_id, sequence, status, start_time, node_count)
    SELECT cluster_id, 1, status, now(), 0 FROM made)
  SELECT cluster_id FROM made`;

/** Copies a configuration for each of the clusters. Parameters: the configuration, the clusters. */
const FILL_JOB_CONFS = `INSERT INTO job_confs OVERRIDING SYSTEM VALUE
  SELECT copy.* FROM job_confs j CROSS JOIN unnest($2::bigint[]) AS of(id)
    CROSS JOIN LATERAL jsonb_populate_record(j, jsonb_build_object(
      'job_conf_id', nextval(pg_get_serial_sequence('job_confs', 'job_conf_id')), 'name', 'bench-' || of.id,
      'cluster_id', of.id)) copy
  WHERE j.job_conf_id = $1 RETURNING job_conf_id`;

/** Inserts ready nodes for each cluster. Parameters: the clusters, nodes of each. */
const FILL_NODES = `WITH made AS (INSERT INTO cluster_nodes (tenant_id, cluster_id, node_number, role, status, token, cores, memory_mb,
    machine_type_id, machine_price_ycu, is_spot, labels, daemons_state, last_seen_at)
  SELECT c.tenant_id, c.cluster_id, n, 'single', 'RUNNING', gen_random_uuid(), 4, 8192,
    (SELECT min(machine_type_id) FROM machine_types WHERE to_date = 'infinity'), 1, false, '{}', 'ready', now()
  FROM clusters c CROSS JOIN generate_series(0, $2::int - 1) n WHERE c.cluster_id = ANY($1)
  RETURNING node_id, cluster_id, status),
  entries AS (INSERT INTO node_states (node_id, cluster_id, sequence, status, start_time)
    SELECT node_id, cluster_id, 1, status, now() FROM made)
  SELECT node_id FROM made`;

const GIVE_TOKENS = `UPDATE cluster_nodes
  SET node_token_hash = encode(sha256(convert_to(node_id || '.bench', 'UTF8')), 'hex') WHERE node_id = ANY($1)`;

/**
 * Copies a waiting run, with all that belongs to it, for each of the clusters in turn. Parameters: the run, the clusters with a
 * configuration of each, the count.
 */
const FILL_WAITING = [
  `CREATE TEMPORARY TABLE copies AS SELECT nextval(pg_get_serial_sequence('runs', 'run_id')) AS run_id,
     nextval(pg_get_serial_sequence('workflow_job_instances', 'workflow_job_instance_id')) AS instance_id,
     ($2::bigint[])[1 + n % cardinality($2::bigint[])] AS cluster_id,
     ($3::bigint[])[1 + n % cardinality($3::bigint[])] AS job_conf_id, $1::bigint AS of
   FROM generate_series(1, $4::int) n`,
  `INSERT INTO runs OVERRIDING SYSTEM VALUE SELECT copy.* FROM copies c JOIN runs r ON r.run_id = c.of CROSS JOIN LATERAL
     jsonb_populate_record(r, jsonb_build_object('run_id', c.run_id, 'cluster_id', c.cluster_id, 'job_conf_id', c.job_conf_id,
       'workflow_job_instance_id', c.instance_id, 'correlation_id', 'copy-' || c.run_id)) copy`,
  `INSERT INTO run_states OVERRIDING SYSTEM VALUE SELECT copy.* FROM copies c JOIN run_states s ON s.run_id = c.of
     CROSS JOIN LATERAL jsonb_populate_record(s, jsonb_build_object('run_id', c.run_id,
       'run_state_id', nextval(pg_get_serial_sequence('run_states', 'run_state_id')))) copy`,
];

/** Selects the commit time of the runs with these correlation ids: rows of the audit log never change. */
const COMMITTED = `SELECT correlation_id, extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000 AS at
  FROM audit_events WHERE correlation_id = ANY($1) AND outcome = 'done'`;

/**
 * Prepares a thousand nodes whose agents poll one process.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
export async function prepareNodes(platform, signal) {
  const database = new pg.Client({ connectionString: platform.postgres.url });
  await database.connect();
  const processes = new MeasuringProcesses(signal);
  try {
    const { nodeIds, jobConfIds, clusterIds } = await fill(database, platform);
    const child = processes.start(AGENTS);
    const { session } = platform;
    /** @param {string} action @param {object} [parameters] */
    const send = async (action, parameters) => {
      const answer = await ask(child, { action, with: parameters });
      if (answer.error) throw new Error(`The agents failed: ${answer.error}`);
      return answer;
    };
    const port = Number(new URL(platform.agentsUrl).port);
    await send('start', { port, nodes: nodeIds.map((id) => [id, `${id}.bench`]) });
    /** @param {object} how */
    const submit = async (how) => {
      const sender = {
        port: Number(new URL(session.baseUrl).port),
        path: `/api/v1${platform.jobs}`,
        token: session.token,
      };
      /** @type {Sent & {sent: number, refused: number, failures: number, first: string}} */
      const answer = await send('submit', { ...sender, jobConfIds, hold: false, ...how });
      if (answer.failures > 0) platform.print(`${answer.failures} requests failed, first with: ${answer.first}`);
      const missing = answer.sent - answer.refused - answer.arrivals.length;
      if (missing > 0) throw new Error(`${missing} of ${answer.sent} runs did not reach their nodes.`);
      return answer;
    };
    return {
      idle: () => idle(platform, signal),
      accept: () => accept(database, submit),
      growth: () => growth(platform, submit, signal),
      restart: () => restart({ platform, database, submit, send, clusterIds, jobConfIds }),
      close: async () => {
        await processes.close();
        await database.end();
      },
    };
  } catch (error) {
    await processes.close();
    await database.end();
    throw error;
  }
}

/** @param {pg.Client} database @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform */
async function fill(database, platform) {
  /** @param {string} sql @param {unknown[]} params */
  const ids = async (sql, params) => {
    /** @type {{rows: Record<string, string>[]}} */
    const { rows } = await database.query(sql, params);
    return rows.map((row) => Number(Object.values(row)[0]));
  };
  const [cloudEnvId] = await ids(FILL_CLOUD_ENV, [platform.clusterId]);
  const clusterIds = await ids(FILL_CLUSTERS, [platform.clusterId, CLUSTERS, SLOTS_OF_NODE, cloudEnvId]);
  const jobConfIds = await ids(FILL_JOB_CONFS, [platform.jobConfId, clusterIds]);
  const nodeIds = await ids(FILL_NODES, [clusterIds, NODES / CLUSTERS]);
  await database.query(GIVE_TOKENS, [nodeIds]);
  await database.query('VACUUM (ANALYZE) cluster_nodes, clusters, job_confs');
  return { nodeIds, jobConfIds, clusterIds };
}

/**
 * Measures the processor time while the agents only poll.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {AbortSignal} signal
 */
async function idle(platform, signal) {
  await delay(WARM_UP_SECONDS * 1_000, undefined, { signal });
  const used = () => ({ api: ticksOf(platform.pids().agents), database: ticksOfTree(platform.postgres.pid) });
  const before = used();
  await delay(IDLE_SECONDS * 1_000, undefined, { signal });
  const after = used();
  /** @param {'api' | 'database'} part @param {string} what */
  const share = (part, what) =>
    measure({
      name: `agent-idle-${part}`,
      title: `processor time of ${what} while ${NODES} nodes poll and nothing happens`,
      unit: '% of a processor',
      goal: { below: 10 },
      value: ((after[part] - before[part]) / TICKS_PER_SECOND / IDLE_SECONDS) * 100,
    });
  return [share('api', 'the API of agents'), share('database', 'PostgreSQL, all its clients included,')];
}

/**
 * Times by correlation id: when runs reached their agents, and when the requests for them were answered.
 * @typedef {{arrivals: [string, number][], answered: [string, number][]}} Sent
 */

/** @param {pg.Client} database @param {(how: object) => Promise<Sent>} submit */
async function accept(database, submit) {
  const { arrivals, answered } = await submit({ name: `agent-${Date.now()}`, perSecond: PER_SECOND, seconds: SECONDS });
  /** @type {{rows: {correlation_id: string, at: string}[]}} */
  const { rows } = await database.query(COMMITTED, [arrivals.map(([id]) => id)]);
  const committed = new Map(rows.map(({ correlation_id: id, at }) => [id, Number(at)]));
  /** @param {Map<string, number>} since */
  const waits = (since) => arrivals.map(([id, at]) => at - (since.get(id) ?? NaN));
  /** @param {string} name @param {string} since @param {number[]} ms */
  const figures = (name, since, ms) =>
    [
      { part: 50, below: 10 },
      { part: 99, below: 50 },
    ].map(({ part, below }) =>
      measure({
        name: `${name}-p${part}`,
        title: `from ${since} to its node's agent, ${NODES} nodes polling, ${PER_SECOND} runs a second: the ${part}th of a hundred`,
        unit: 'ms',
        goal: { below },
        value: percentile(ms, part / 100),
      }),
    );
  return [
    ...figures('agent', 'the answer to the request for a run', waits(new Map(answered))),
    // The record is written before the log is flushed, so the time of the flush is part of these figures.
    ...figures('agent-record', 'the commit record of a run', waits(committed)),
  ];
}

/**
 * Measures the growth of the processes while runs are accepted, reported and ended.
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} platform
 * @param {(how: object) => Promise<unknown>} submit
 * @param {AbortSignal} signal
 */
async function growth(platform, submit, signal) {
  /** @type {['api' | 'agents' | 'worker', string][]} */
  const parts = [
    ['api', 'the API of clients'],
    ['agents', 'the API of agents'],
    ['worker', 'the worker'],
  ];
  const seconds = GROWTH_WARM_UP_SECONDS + GROWTH_MINUTES * 60;
  const load = submit({ name: `growth-${Date.now()}`, perSecond: PER_SECOND, seconds });
  load.catch(() => {});
  await delay(GROWTH_WARM_UP_SECONDS * 1_000, undefined, { signal });
  /** @type {[minutes: number, sizes: Record<string, number>][]} */
  const samples = [];
  const begun = performance.now();
  for (let number = 0; number <= GROWTH_MINUTES * SAMPLES_PER_MINUTE; number += 1) {
    await delay(Math.max(0, begun + (number * 60_000) / SAMPLES_PER_MINUTE - performance.now()), undefined, { signal });
    const pids = platform.pids();
    const sizes = Object.fromEntries(parts.map(([name]) => [name, residentOf(pids[name]).now]));
    samples.push([(performance.now() - begun) / 60_000, sizes]);
  }
  await load;
  return parts.map(([name, what]) =>
    measure({
      name: `growth-${name}`,
      title: `growth of the resident memory of ${what} over ${GROWTH_MINUTES} minutes, ${PER_SECOND} runs a second`,
      unit: 'MiB a minute',
      goal: { below: 1 },
      value: slope(samples.map(([minutes, sizes]) => [minutes, sizes[name] ?? NaN])),
    }),
  );
}

/**
 * Measures the time until restarted processes work, with all slots taken and many more runs waiting, and their memory.
 * @param {object} options
 * @param {import('./platform-under-bench.mjs').PlatformUnderBench} options.platform
 * @param {pg.Client} options.database
 * @param {(how: object) => Promise<unknown>} options.submit
 * @param {(action: string) => Promise<{ms: number}>} options.send
 * @param {number[]} options.clusterIds
 * @param {number[]} options.jobConfIds
 */
async function restart({ platform, database, submit, send, clusterIds, jobConfIds }) {
  const assigned = NODES * SLOTS_OF_NODE;
  await submit({
    name: `restart-${Date.now()}`,
    perSecond: FILL_PER_SECOND,
    seconds: assigned / FILL_PER_SECOND,
    hold: true,
  });
  const { session } = platform;
  const waiting = await session.json('POST', platform.jobs, { body: { job_conf_id: jobConfIds[0] } });
  const { rows } = await database.query('SELECT count(node_id) AS with_node FROM runs WHERE ended_at IS NULL');
  if (Number(rows[0].with_node) !== assigned)
    throw new Error(`${rows[0].with_node} runs have a slot, not ${assigned}.`);
  platform.print(`${assigned} runs have a slot; making ${WAITING} that wait`);
  const [create = '', ...fills] = FILL_WAITING;
  // A utility statement takes no parameters; the ids are numbers.
  await database.query(
    create
      .replace('$1', String(waiting.job_id))
      .replaceAll('$2', `'{${clusterIds.join()}}'`)
      .replaceAll('$3', `'{${jobConfIds.join()}}'`)
      .replace('$4', String(WAITING)),
  );
  await database.query('BEGIN');
  // The referenced rows are known to exist.
  await database.query('SET LOCAL session_replication_role = replica');
  for (const sql of fills) await database.query(sql);
  await database.query('COMMIT');
  await database.query('VACUUM (ANALYZE) runs, run_states, workflow_jobs, workflow_job_instances');
  await database.query('CHECKPOINT');
  platform.print('Restarting');
  await platform.restart();
  const ready = await platform.readyAfter();
  for (const [name, milliseconds] of Object.entries(ready))
    platform.print(`restart: ${name} was up after ${(milliseconds / 1_000).toFixed(2)} s`);
  const { ms } = await send('free');
  const pids = platform.pids();
  /** @param {'api' | 'agents' | 'worker'} part @param {string} what */
  const figures = (part, what) => [
    measure({
      name: `restart-${part}`,
      title: `from the start of ${what} until it is ready, ${WAITING} runs waiting and ${assigned} assigned`,
      unit: 's',
      goal: { below: 10 },
      value: ready[part] / 1_000,
    }),
    measure({
      name: `restart-${part}-memory`,
      title: `largest resident memory of ${what} until then and the first run given`,
      unit: 'MiB',
      goal: { below: 512 },
      value: residentOf(pids[part]).largest,
    }),
  ];
  return [
    ...figures('api', 'the API of clients'),
    ...figures('agents', 'the API of agents'),
    ...figures('worker', 'the worker'),
    measure({
      name: 'restart-dispatch',
      title: 'from the report of an end, right after the restart, until a node has the next run',
      unit: 's',
      goal: { below: 2 },
      value: ms / 1_000,
    }),
  ];
}

/** Returns the resident memory of a process in MiB. @param {number} pid */
function residentOf(pid) {
  const text = readFileSync(`/proc/${pid}/status`, 'latin1');
  /** @param {string} name */
  const field = (name) => (Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1024) / MIB;
  return { now: field('VmRSS'), largest: field('VmHWM') };
}

/** Returns the slope of the least-squares line. @param {[number, number][]} points */
function slope(points) {
  /** @param {number[]} numbers */
  const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const rise = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0);
  return rise / points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
}

/** @param {number} pid */
function ticksOf(pid) {
  const fields = statOf(pid);
  return Number(fields[11]) + Number(fields[12]);
}

/** Counts the children too, including those that ended. @param {number} parent */
function ticksOfTree(parent) {
  const own = statOf(parent);
  let ticks = ticksOf(parent) + Number(own[13]) + Number(own[14]);
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (Number(statOf(Number(name))[1]) === parent) ticks += ticksOf(Number(name));
    } catch {
      // The process has ended meanwhile.
    }
  }
  return ticks;
}

/** @param {number} pid @returns {string[]} the fields from the state on, which is the third of the file */
function statOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
