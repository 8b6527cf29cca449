import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { reportingElapsedTime } from '../embedded/elapsed-time.mjs';
import { callFunction, runCell } from './interactive.mjs';
import { ApiError } from './session.mjs';

const ONPREM = 3;
const MACHINE_TYPE = 'Onprem-S-4';
const CREDENTIAL_TYPE = 'OnPrem Basic Auth';
const SCRIPT = { local: 'machine_types.py', remote: 'demo/machine_types.py' };
const DATA = { local: 'machine-types.jsonl', remote: 'demo/machine-types.jsonl' };

const CLUSTER_DEADLINE_MS = 240_000;
const JOB_DEADLINE_MS = 600_000;
const POLL_MS = 300;

/** The log may be shipped a moment after the run's end is reported. */
const LOG_GRACE_MS = 15_000;

const FINISHED = ['DONE', 'ERROR', 'TERMINATED', 'STOPPED', 'KILLED'];

/**
 * @typedef {import('./session.mjs').Session} Session
 *
 * A transient line may be overwritten by the next.
 * @typedef {(text: string, transient?: boolean) => void} Print
 *
 * The fields of a machine type that are read here; the data file gets all other fields of the lookup too.
 * @typedef {object} MachineType
 * @property {number} machine_type_id
 * @property {string} name
 * @property {number} vCPUs
 * @property {number} machine_price_ycu
 * @property {{machine_architecture_type_id: number}} machine_architecture_type
 *
 * The lookups that local clusters are created with: ids by meaning, and every machine type.
 * @typedef {object} Lookups
 * @property {number} providerId
 * @property {number} distroId
 * @property {number} architectureId
 * @property {number} credentialTypeId
 * @property {number} machineTypeId
 * @property {number} infraVersionId
 * @property {MachineType[]} machineTypes
 *
 * The fields by which a cluster refers to its infrastructure.
 * @typedef {{cloud_env_id: number, cluster_conf_id: number, spark_infra_version_id: number}} Infrastructure
 *
 * @typedef {object} DemoOptions
 * @property {Session} session
 * @property {string} folder where the data file is written
 * @property {string} sparkVersion the Spark that the local nodes have
 * @property {string} [productName] stands for PLATFORM on the wire
 * @property {Print} [print]
 * @property {AbortSignal} [signal]
 *
 * @typedef {object} DemoResult
 * @property {boolean} ok the job is DONE, and all figures are the expected ones
 * @property {string} status of the job
 * @property {string} expected the result line computed here from the same file
 * @property {string | null} actual the result line of the job's log
 * @property {string} cell the result of the notebook's cell
 * @property {string} called the response of the function
 * @property {number} workspaceId
 * @property {number} clusterId
 * @property {string} document file with the exported workspace
 * @property {{title: string, ms: number}[]} steps
 * @property {string[]} wrong titles of the steps whose result is not the expected one
 */

const JOB_STEP = 'Run the job';
const CELL_STEP = 'Execute a cell of a notebook';
const FUNCTION_STEP = 'Call a function';

/** A step that could not be completed; its `cause` says why. */
export class DemoStepError extends Error {
  /** @param {string} step its title @param {unknown} cause */
  constructor(step, cause) {
    super(`The step "${step}" failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'DemoStepError';
    this.step = step;
  }
}

/**
 * Runs a PySpark job on a new cluster, using only REST. Records of an earlier run are found by name and reused.
 * @param {DemoOptions} options
 * @returns {Promise<DemoResult>}
 * @throws {DemoStepError}
 */
export async function runDemo({ session, folder, sparkVersion, productName = 'PLATFORM', print = () => {}, signal }) {
  /** @type {{title: string, ms: number}[]} */
  const steps = [];
  /**
   * @template T
   * @param {string} title
   * @param {() => Promise<T>} action
   */
  const step = async (title, action) => {
    print(`${title} …`, true);
    const started = performance.now();
    const result = await reportingElapsedTime(title, print, action).catch((error) => {
      throw new DemoStepError(title, error);
    });
    const ms = performance.now() - started;
    steps.push({ title, ms });
    print(`${title}: ${seconds(ms)}`);
    return result;
  };

  const lookups = await step('Read the lookups', () => readLookups(session, sparkVersion));
  const expected = await step('Write the data file', () => writeData(folder, lookups.machineTypes));
  const clusterId = await step('Describe the infrastructure', () =>
    describeCluster(session, lookups, { sparkVersion, productName }),
  );
  const workspaceId = await step('Make the workspace and upload script and data', async () => {
    const id = await makeWorkspace(session);
    await upload(session, id, SCRIPT.remote, join(dirname(fileURLToPath(import.meta.url)), SCRIPT.local));
    await upload(session, id, DATA.remote, join(folder, DATA.local));
    return id;
  });
  await step('Reserve the cluster for the workspace', () => associate(session, { workspaceId, clusterId }));
  await step('Start the cluster', () => startCluster(session, clusterId, { print, signal }));
  const jobConfId = await step('Describe the job', () => describeJob(session, workspaceId, clusterId, sparkVersion));
  const run = await step(JOB_STEP, () => runJob(session, workspaceId, jobConfId, { print, signal }));
  const place = { workspaceId, clusterId, signal };
  const cell = await step(CELL_STEP, () => runCell(session, place));
  const called = await step(FUNCTION_STEP, () => callFunction(session, { ...place, productName }));
  const document = await step('Export the workspace', () => exportWorkspace(session, workspaceId, folder));

  const actual = run.log.match(/^RESULT .*$/m)?.[0]?.trim() ?? null;
  const wrong = [
    ...(run.status === 'DONE' && actual === expected ? [] : [JOB_STEP]),
    ...(cell === '499500' ? [] : [CELL_STEP]),
    ...(called === '{"sum":499500}' ? [] : [FUNCTION_STEP]),
  ];
  const figures = { expected, actual, cell, called };
  return { ok: wrong.length === 0, wrong, status: run.status, ...figures, workspaceId, clusterId, document, steps };
}

/**
 * @param {Session} session
 * @param {number} clusterId
 * @param {{deadlineMs?: number, signal?: AbortSignal}} [options]
 * @returns {Promise<void>} when the cluster is DESTROYED
 */
export async function destroyCluster(session, clusterId, { deadlineMs = 60_000, signal } = {}) {
  await session.json('POST', '/cluster/destroy', { body: { cluster_id: clusterId } });
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const { cluster_status: status } = await session.json('GET', '/cluster', { query: { cluster_id: clusterId } });
    if (status === 'DESTROYED') return;
    if (status === 'ERROR') throw new Error(`The cluster went to ERROR. ${await clusterReason(session, clusterId)}`);
    if (Date.now() > deadline) throw new Error(`The cluster was still ${status} after ${seconds(deadlineMs)}.`);
    await delay(POLL_MS, undefined, { signal });
  }
}

/**
 * @param {Session} session
 * @param {string} sparkVersion
 * @returns {Promise<Lookups>}
 */
export async function readLookups(session, sparkVersion) {
  /** @param {string} path @param {Record<string, unknown>} [query] */
  const get = (path, query) => session.json('GET', path, { query });
  const [providers, distros, architectures, credentialTypes, onpremTypes, machineTypes, infraVersions] =
    await Promise.all([
      get('/lookup_cloud_providers'),
      get('/lookup_linux_distro'),
      get('/lookup_machine_architecture_type'),
      get('/lookup_credential_type'),
      get(`/lookup_cloud_providers/${ONPREM}/machine/types`),
      get('/lookup_machine_type', { all: true }),
      get('/lookup_spark_infra_version'),
    ]);
  /** @type {MachineType} */
  const machineType = pick(onpremTypes.data, 'machine type', 'name', MACHINE_TYPE);
  const architecture = machineType.machine_architecture_type.machine_architecture_type_id;
  return {
    providerId: pick(providers, 'cloud provider', 'name', 'OnPrem').cloud_provider_id,
    distroId: pick(distros, 'Linux', 'distro_name', 'UBUNTU').linux_distro_id,
    architectureId: pick(architectures, 'architecture', 'id', architecture).id,
    credentialTypeId: pick(credentialTypes, 'credential type', 'name', CREDENTIAL_TYPE).credential_type_id,
    machineTypeId: machineType.machine_type_id,
    infraVersionId: pick(infraVersions, 'Spark', 'spark_version', sparkVersion).spark_infra_version_id,
    machineTypes: machineTypes.data,
  };
}

/**
 * @param {any[]} rows of any lookup, each with fields of its own
 * @param {string} what names the rows in a message
 * @param {string} field
 * @param {string | number} value of the field in the row that is wanted
 * @returns {any}
 */
function pick(rows, what, field, value) {
  const row = rows.find((candidate) => candidate[field] === value);
  if (!row) throw new Error(`The lookups name no ${what} ${value}.`);
  return row;
}

/**
 * Writes the machine types as JSON lines and computes from that file, without Spark, the line that the job must print.
 * @param {string} folder
 * @param {MachineType[]} machineTypes
 * @returns {Promise<string>}
 */
async function writeData(folder, machineTypes) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, DATA.local);
  writeFileSync(file, machineTypes.map((machine) => `${JSON.stringify(machine)}\n`).join(''));
  /** @type {MachineType[]} */
  const rows = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  let [vcpus, weighted] = [0, 0];
  for (const { vCPUs, machine_price_ycu: price } of rows) {
    vcpus += vCPUs;
    weighted += vCPUs * Math.floor(price * 10_000 + 0.5);
  }
  return `RESULT rows=${rows.length} total_vcpus=${vcpus} weighted_price=${weighted}`;
}

/**
 * Creates the parts of a cluster of local nodes; records that already exist are found by name.
 * @param {Session} session
 * @param {Lookups} lookups
 * @returns {Promise<Infrastructure>}
 */
export async function describeInfrastructure(session, lookups) {
  const { providerId: cloud_provider_id } = lookups;
  const secret = { USERNAME: 'local', PASSWORD: randomBytes(12).toString('hex') };
  const [credential_config_id, network_conf_id, boot_disk_image_id, cluster_conf_id] = await Promise.all([
    findOrCreate(session, '/credential_config', 'credentials_conf', {
      name: 'demo-local',
      credential_type_id: lookups.credentialTypeId,
      base64_encoded_credentials: { encoded: Buffer.from(JSON.stringify(secret)).toString('base64') },
    }),
    findOrCreate(session, '/machine/network', 'network_conf', {
      name: 'demo-local',
      cloud_provider_id,
      bridge: 'vmbr0',
      model: 'virtio',
    }),
    findOrCreate(session, '/machine/boot_disk_image', 'boot_disk_image', {
      name: 'demo-local',
      cloud_provider_id,
      linux_distro_id: lookups.distroId,
      boot_disk_image: 'local',
      architecture_type_id: lookups.architectureId,
    }),
    findOrCreate(session, '/cluster/conf', 'cluster_conf', {
      name: 'demo-small',
      machine_type_id: lookups.machineTypeId,
    }),
  ]);
  const cloud_env_id = await findOrCreate(session, '/cluster/cloud/environment', 'cloud_env', {
    name: 'demo-local',
    cloud_provider_id,
    network_conf_id,
    credential_config_id,
    boot_disk_image_id,
    endpoint: 'local://',
  });
  return { cloud_env_id, cluster_conf_id, spark_infra_version_id: lookups.infraVersionId };
}

/**
 * Creates the cluster and all configurations that it needs.
 * @param {Session} session
 * @param {Lookups} lookups
 * @param {{sparkVersion: string, productName: string}} options
 * @returns {Promise<number>} its id
 */
export async function describeCluster(session, lookups, { sparkVersion, productName }) {
  const infrastructure = await describeInfrastructure(session, lookups);
  const name = `demo-spark-${sparkVersion}`;
  await enableIfDisabled(session, name);
  return findOrCreate(session, '/cluster', 'cluster', {
    name,
    description: 'Made by npm run quickstart',
    cluster_type: productName,
    ...infrastructure,
    min_instances: 1,
    max_instances: 1,
    is_spot_instance: false,
    enable_public_ip: false,
  });
}

/**
 * @param {Session} session
 * @returns {Promise<number>} its id
 */
export function makeWorkspace(session) {
  const body = { name: 'demo', description: 'Made by npm run quickstart' };
  return findOrCreate(session, '/workspace', 'workspace', body);
}

/**
 * @param {Session} session
 * @param {string} path of both operations
 * @param {string} key the record's name in `<key>_id` and `<key>_name`
 * @param {{name: string} & Record<string, unknown>} body
 * @returns {Promise<number>} the id; write operations return ids as strings
 */
async function findOrCreate(session, path, key, body) {
  try {
    const found = await session.json('GET', path, { query: { [`${key}_name`]: body.name } });
    return Number(found[`${key}_id`]);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
  return Number((await session.json('POST', path, { body }))[`${key}_id`]);
}

/**
 * Enables a disabled cluster: an earlier run that ended between disabling and enabling leaves one, and a search by name does not
 * find it.
 * @param {Session} session
 * @param {string} name
 */
async function enableIfDisabled(session, name) {
  const query = { cluster_name: name, enable: false };
  /** @type {{data: {name: string, cluster_id: number}[]}} */
  const { data } = await session.json('GET', '/clusters/search', { query }).catch((error) => {
    if (error instanceof ApiError && error.status === 404) return { data: [] };
    throw error;
  });
  const disabled = data.find((cluster) => cluster.name === name);
  if (disabled) await session.json('PUT', '/cluster/enable', { body: { cluster_id: Number(disabled.cluster_id) } });
}

/**
 * @param {Session} session
 * @param {number} workspaceId
 * @param {string} path within the workspace
 * @param {string} file on this machine
 */
export async function upload(session, workspaceId, path, file) {
  const query = { workspace_id: workspaceId, path, overwrite: true };
  await session.json('POST', '/workspace/files', { query, bytes: readFileSync(file) });
}

/**
 * Associates the cluster with the workspace; jobs of other workspaces cannot use it from then on.
 * @param {Session} session
 * @param {{workspaceId: number, clusterId: number}} pair
 */
export async function associate(session, { workspaceId, clusterId }) {
  try {
    await session.json('POST', `/ac/workspace/${workspaceId}/cluster/${clusterId}`);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'CLUSTER_WORKSPACE.EXISTS') throw error;
  }
}

/**
 * @param {Session} session
 * @param {number} workspaceId
 * @param {string} folder
 * @returns {Promise<string>} the file, named as the response says
 */
async function exportWorkspace(session, workspaceId, folder) {
  const answer = await session.send('GET', '/workspace/export', { query: { workspace_id: workspaceId } });
  const name = /filename="([\w.@-]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1];
  if (name === undefined) throw new Error('The exported workspace has no file name.');
  const file = join(folder, name);
  writeFileSync(file, await answer.text());
  return file;
}

/**
 * Takes the cluster to RUNNING from any state in which an earlier run left it. A cluster that is RUNNING without having been
 * started here is stopped first: its nodes ended with the platform that started them.
 * @param {Session} session
 * @param {number} clusterId
 * @param {{print: Print, signal?: AbortSignal}} options
 */
async function startCluster(session, clusterId, { print, signal }) {
  const body = { cluster_id: clusterId };
  /** @param {'POST' | 'PUT'} method @param {string} operation */
  const act = async (method, operation) => {
    try {
      await session.json(method, `/cluster/${operation}`, { body });
    } catch (error) {
      // The platform moved the cluster on in the meantime; the next read shows its state.
      const movedOn = error instanceof ApiError && (error.status === 400 || error.status === 409);
      if (!movedOn || Date.now() > deadline) throw error;
      lastRefusal = error.message;
      return false;
    }
    return true;
  };
  const deadline = Date.now() + CLUSTER_DEADLINE_MS;
  let started = false;
  let lastRefusal = '';
  let shown = '';
  for (;;) {
    const { cluster_status: status } = await session.json('GET', '/cluster', { query: body });
    if (status !== shown) print(`  cluster ${status}`, true);
    shown = status;
    if (started && status === 'RUNNING') return;
    if (started && (status === 'ERROR' || status === 'DESTROYED')) {
      throw new Error(`The cluster did not start. ${await clusterReason(session, clusterId)}`);
    }
    switch (status) {
      case 'STOPPED':
        if (!started) started = await act('POST', 'start');
        break;
      case 'RUNNING':
        await act('POST', 'stop');
        break;
      case 'ERROR':
        await act('POST', 'destroy');
        break;
      case 'DESTROYED':
        if (await act('PUT', 'disable')) await act('PUT', 'enable');
        break;
      default:
      // The cluster is on its way to one of the states above.
    }
    if (Date.now() > deadline) {
      throw new Error(`The cluster was still ${status} after ${seconds(CLUSTER_DEADLINE_MS)}. ${lastRefusal}`.trim());
    }
    await delay(POLL_MS, undefined, { signal });
  }
}

/**
 * Returns what the platform reports about the failure of a cluster's nodes.
 * @param {Session} session
 * @param {number} clusterId
 */
async function clusterReason(session, clusterId) {
  try {
    const query = { cluster_id: clusterId, limit: 20 };
    /** @type {{node_status: string, node_status_id: number}[]} */
    const events = (await session.json('GET', '/cluster/node/events', { query })).data;
    const failed = events.find(({ node_status: status }) => status === 'ERROR') ?? events[0];
    if (!failed) return 'It has no nodes that could say why.';
    const path = `/cluster/${clusterId}/errors`;
    /** @type {{data: {error: string}[]}} */
    const { data } = await session.json('GET', path, { query: { node_status_id: failed.node_status_id } });
    return data.map(({ error }) => error).join('\n') || 'The platform gives no reason.';
  } catch (error) {
    return `The reason could not be read: ${/** @type {Error} */ (error).message}`;
  }
}

/**
 * Creates the job configuration. Its name depends on the cluster and the Spark version, because it cannot be changed later.
 * @param {Session} session
 * @param {number} workspaceId
 * @param {number} clusterId
 * @param {string} sparkVersion
 * @returns {Promise<number>} its id
 */
async function describeJob(session, workspaceId, clusterId, sparkVersion) {
  return findOrCreate(session, `/workspace/${workspaceId}/spark/job/conf`, 'job_conf', {
    name: `demo-machine-types-${sparkVersion}`,
    cluster_id: clusterId,
    job_type: 'Python3',
    command: SCRIPT.remote,
    arguments: DATA.local,
    files: [DATA.remote],
    driver_memory: '512m',
    executor_memory: '512m',
  });
}

/**
 * @param {Session} session
 * @param {number} workspaceId
 * @param {number} jobConfId
 * @param {{print: Print, signal?: AbortSignal}} options
 * @returns {Promise<{status: string, log: string}>}
 */
async function runJob(session, workspaceId, jobConfId, { print, signal }) {
  const jobs = `/workspace/${workspaceId}/spark/job`;
  const { job_id: jobId } = await session.json('POST', jobs, { body: { job_conf_id: jobConfId } });
  const job = `${jobs}/${jobId}`;
  const log = new LogTail(session, `${job}/log/stdout`, (line) => print(`  | ${line}`));
  const deadline = Date.now() + JOB_DEADLINE_MS;
  let status = '';
  for (;;) {
    /** @type {string} */
    const now = (await session.json('GET', `${job}/status`)).job_status;
    if (now !== status) print(`  job ${jobId} ${now}`);
    status = now;
    await log.read();
    if (FINISHED.includes(status)) break;
    if (Date.now() > deadline) throw new Error(`Job ${jobId} was still ${status} after ${seconds(JOB_DEADLINE_MS)}.`);
    await delay(POLL_MS, undefined, { signal });
  }
  const logDeadline = Date.now() + LOG_GRACE_MS;
  while (status === 'DONE' && !/^RESULT .*\n/m.test(log.text) && Date.now() < logDeadline) {
    await delay(POLL_MS, undefined, { signal });
    await log.read();
  }
  log.end();
  if (status !== 'DONE') await printFailure(session, job, print);
  return { status, log: log.text };
}

/** @param {Session} session @param {string} job path of it @param {Print} print */
async function printFailure(session, job, print) {
  /** @type {{data: {error: string}[]}} */
  const reasons = await session
    .json('GET', `${job}/workflow/errors`)
    .catch((/** @type {Error} */ error) => ({ data: [{ error: error.message }] }));
  for (const { error } of reasons.data) print(`  ${error}`);
  const answer = await session.send('GET', `${job}/log/stderr`, { query: { last_n_lines: 40 } }).catch(() => null);
  for (const line of ((await answer?.text()) ?? '').trimEnd().split('\n')) print(`  ! ${line}`);
}

/** Follows a log by offset, so that no part is read twice or missed. */
class LogTail {
  /** @param {Session} session @param {string} path @param {(line: string) => void} onLine */
  constructor(session, path, onLine) {
    this.session = session;
    this.path = path;
    this.onLine = onLine;
    this.offset = 0;
    this.text = '';
    this.rest = '';
    // A chunk may end within a character.
    this.decoder = new TextDecoder();
  }

  async read() {
    for (;;) {
      let answer;
      try {
        answer = await this.session.send('GET', this.path, { query: { offset: this.offset } });
      } catch (error) {
        // There may be no log until the run writes something.
        if (error instanceof ApiError && error.status === 404) return;
        throw error;
      }
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (bytes.length === 0) return;
      this.offset = Number(answer.headers.get('x-log-offset') ?? this.offset + bytes.length);
      this.add(this.decoder.decode(bytes, { stream: true }));
    }
  }

  /** @param {string} text */
  add(text) {
    this.text += text;
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.onLine(line);
  }

  end() {
    if (this.rest !== '') this.onLine(this.rest);
    this.rest = '';
  }
}

/** @param {number} ms */
function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
