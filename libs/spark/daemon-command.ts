import { existsSync } from 'node:fs';
import { LONG_JSON, readUntrusted } from '../json/parse-json';
import { classArchiveOptions } from './class-archive';
import { daemonJava, type OptionsVariable } from './daemon-java';
import { LAST_CLASS_PATH } from './mounts';
import type { SparkRuntime } from './submit-command';

/** A Spark daemon to run in the foreground. */
export interface DaemonCommand {
  argv: string[];
  env: Record<string, string>;
}

/** The address of a standalone master. */
export interface MasterAddress {
  host: string;
  port: number;
  webUiPort: number;
}

/** The address and the resources of a standalone worker. */
export interface WorkerSettings {
  host: string;
  webUiPort: number;
  cores: number;
  memoryMb: number;
  workDir: string;
  /** The GPUs that the worker offers, and the script that prints their indexes; null without GPUs. */
  gpus?: { amount: number; discoveryScript: string } | null;
}

/** The secrets of a cluster's daemons. */
export interface DaemonSecrets {
  /** Secret shared by the cluster's daemons, drivers and executors; null for a cluster that was started without one. */
  spark: string | null;
  /** Token that the daemon's pages require in the header {@link UI_TOKEN_HEADER}. Only the agent reads those pages. */
  ui: string;
}

export const UI_TOKEN_HEADER = 'x-ui-token';

/** Heap of a daemon, which schedules and holds no data. */
const DAEMON_MEMORY = '512m';

/** Names the main classes of the daemons, which their command lines contain however they are started. */
export const MASTER_CLASS = 'org.apache.spark.deploy.master.Master';
export const WORKER_CLASS = 'org.apache.spark.deploy.worker.Worker';

/** Becomes a worker once its master takes connections. */
const EARLY_WORKER_CLASS = 'org.apache.spark.deploy.early.EarlyWorker';
/** After this time an early worker goes on as if its master had just left: it tries to register again and again. */
const EARLY_WORKER_TIMEOUT_MS = 60_000;

/**
 * Returns the command of a standalone master in the foreground. The master fails if its port is taken, because the address is already
 * published: the caller picks another port and starts it again.
 */
export function masterCommand(
  runtime: SparkRuntime,
  env: Readonly<Record<string, string>>,
  secrets: DaemonSecrets,
  place: MasterAddress,
): DaemonCommand {
  return daemonCommand(runtime, {
    variable: 'SPARK_MASTER_OPTS',
    env: {
      ...daemonEnvironment(runtime, env, secrets),
      SPARK_MASTER_OPTS: `-Dspark.port.maxRetries=0 ${env['SPARK_MASTER_OPTS'] ?? ''}`.trim(),
    },
    words: [
      MASTER_CLASS,
      ...['--host', place.host, '--port', String(place.port), '--webui-port', String(place.webUiPort)],
    ],
  });
}

/**
 * Returns the command of a standalone worker in the foreground, which joins the master at `masterUrl` and cleans up after ended
 * applications.
 * @param awaited the address of a master that may not listen yet, if {@link canStartEarly}; null starts the worker at once
 */
export function workerCommand(
  runtime: SparkRuntime,
  env: Readonly<Record<string, string>>,
  secrets: DaemonSecrets,
  place: WorkerSettings,
  masterUrl: string,
  awaited: Pick<MasterAddress, 'host' | 'port'> | null = null,
): DaemonCommand {
  const cleanUp = '-Dspark.worker.cleanup.enabled=true -Dspark.worker.cleanup.appDataTtl=3600';
  return daemonCommand(runtime, {
    variable: 'SPARK_WORKER_OPTS',
    env: {
      ...daemonEnvironment(runtime, env, secrets),
      // Follows the user's options so that it wins: without it the signal would end the worker with all the data of its executors.
      SPARK_WORKER_OPTS: [cleanUp, ...gpuOptions(place), env['SPARK_WORKER_OPTS'], '-Dspark.decommission.enabled=true']
        .filter(Boolean)
        .join(' '),
    },
    words: [
      WORKER_CLASS,
      ...['--host', place.host, '--port', '0', '--webui-port', String(place.webUiPort)],
      ...['--cores', String(place.cores), '--memory', `${place.memoryMb}m`, '--work-dir', place.workDir],
      masterUrl,
    ],
    early: awaited && [EARLY_WORKER_CLASS, awaited.host, String(awaited.port), String(EARLY_WORKER_TIMEOUT_MS)],
  });
}

/** Returns true if a worker can be started together with its master: it then waits by itself until the master listens. */
export function canStartEarly(runtime: SparkRuntime, env: Readonly<Record<string, string>>): boolean {
  const jar = earlyWorkerJar(runtime);
  return jar !== null && existsSync(jar) && daemonJava(runtime, env, 'SPARK_WORKER_OPTS') !== null;
}

function earlyWorkerJar({ connectors }: SparkRuntime): string | null {
  return connectors === null ? null : `${connectors}/early-worker.jar`;
}

interface Daemon {
  /** The variable with options for this kind of daemon alone. */
  variable: OptionsVariable;
  env: Record<string, string>;
  /** Main class and arguments. */
  words: readonly string[];
  /** A class that starts the main class, with its own arguments; null if the main class starts at once. */
  early?: readonly string[] | null;
}

function daemonCommand(runtime: SparkRuntime, { variable, env, words, early }: Daemon): DaemonCommand {
  const jar = early ? earlyWorkerJar(runtime) : null;
  const java = daemonJava(runtime, env, variable, jar === null ? [] : [jar]);
  if (java === null) return { argv: [`${runtime.sparkHome}/bin/spark-class`, ...words], env };
  return { argv: [...java.argv, ...(early ?? []), ...words], env: { ...env, ...java.env } };
}

function gpuOptions({ gpus }: WorkerSettings): string[] {
  if (!gpus) return [];
  const name = 'spark.worker.resource.gpu';
  return [`-D${name}.amount=${gpus.amount}`, `-D${name}.discoveryScript=${gpus.discoveryScript}`];
}

/** The node's environment wins over the platform's defaults. Secrets are in variables because others can read command lines. */
function daemonEnvironment(
  { classArchive, connectors }: SparkRuntime,
  env: Readonly<Record<string, string>>,
  { spark, ui }: DaemonSecrets,
): Record<string, string> {
  const javaOptions = [
    ...classArchiveOptions(classArchive),
    '-Dspark.ui.killEnabled=false',
    ...(spark === null ? [] : ['-Dspark.authenticate=true', '-Dspark.network.crypto.enabled=true']),
    ...(connectors === null ? [] : ['-Dspark.ui.filters=node.UiTokenFilter']),
    env['SPARK_DAEMON_JAVA_OPTS'] ?? '',
  ];
  const classPath = [env[LAST_CLASS_PATH], connectors && `${connectors}/ui-token-filter.jar`].filter(Boolean).join(':');
  return {
    SPARK_DAEMON_MEMORY: DAEMON_MEMORY,
    ...env,
    ...(classPath === '' ? {} : { [LAST_CLASS_PATH]: classPath }),
    ...(spark === null ? {} : { _SPARK_AUTH_SECRET: spark }),
    SPARK_UI_TOKEN: ui,
    SPARK_DAEMON_JAVA_OPTS: javaOptions.join(' ').trim(),
  };
}

/** The content of the master's `/json/` page. */
export interface MasterStatus {
  alive: boolean;
  aliveWorkers: number;
  activeApplications: string[];
}

/** Reads the master's `/json/` page; returns null for any other text. */
export function parseMasterStatus(body: string): MasterStatus | null {
  const page = parseObject(body);
  if (!page || typeof page['status'] !== 'string') return null;
  const applications = Array.isArray(page['activeapps']) ? (page['activeapps'] as unknown[]) : [];
  return {
    alive: page['status'] === 'ALIVE',
    aliveWorkers: typeof page['aliveworkers'] === 'number' ? page['aliveworkers'] : 0,
    activeApplications: applications.flatMap((entry) => {
      const id = isObject(entry) ? entry['id'] : undefined;
      return typeof id === 'string' ? [id] : [];
    }),
  };
}

/** The executors on the worker's `/json/` page. */
export interface WorkerLoad {
  usedCores: number;
  executors: number;
}

/** Reads the worker's `/json/` page; returns null for any other text. */
export function parseWorkerLoad(body: string): WorkerLoad | null {
  const page = parseObject(body);
  const [usedCores, executors] = [page?.['coresused'], page?.['executors']];
  if (!Number.isSafeInteger(usedCores) || !Array.isArray(executors)) return null;
  return { usedCores: Math.max(0, usedCores as number), executors: executors.length };
}

/** Returns true if the worker's `/json/` page names a master that the worker is registered with. */
export function parseWorkerRegistered(body: string): boolean {
  const url = parseObject(body)?.['masterwebuiurl'];
  return typeof url === 'string' && url !== '';
}

function parseObject(body: string): Record<string, unknown> | null {
  const value = readUntrusted(body, LONG_JSON);
  return isObject(value) ? value : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
