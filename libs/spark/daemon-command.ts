import { LONG_JSON, readUntrusted } from '../json/parse-json';
import { classArchiveOption } from './class-archive';
import { LAST_CLASS_PATH } from './mounts';
import type { SparkRuntime } from './submit-command';

/** A Spark daemon to run in the foreground. */
export interface DaemonCommand {
  argv: string[];
  env: Record<string, string>;
}

/** Where a standalone master listens. */
export interface MasterPlace {
  host: string;
  port: number;
  webUiPort: number;
}

/** A standalone worker: what it offers, and where it works. */
export interface WorkerPlace {
  host: string;
  webUiPort: number;
  cores: number;
  memoryMb: number;
  workDir: string;
  /** GPUs that it offers, and the script that tells which; null without. */
  gpus?: { amount: number; discoveryScript: string } | null;
}

/** How the daemons of a cluster know whom they may trust. */
export interface DaemonSecrets {
  /** Of the cluster, for its daemons, drivers and executors; null for one that was started without. */
  spark: string | null;
  /** What the daemon's own pages require in the header {@link UI_TOKEN_HEADER}: only the agent reads them. */
  ui: string;
}

export const UI_TOKEN_HEADER = 'x-ui-token';

/** Heap of a daemon; it schedules and holds no data. */
const DAEMON_MEMORY = '512m';

/**
 * Foreground standalone master. It fails on a taken port rather than move to the next one, since its address has been
 * given out: the caller picks another and starts again.
 */
export function masterCommand(
  runtime: SparkRuntime,
  env: Readonly<Record<string, string>>,
  secrets: DaemonSecrets,
  place: MasterPlace,
): DaemonCommand {
  return {
    argv: [
      `${runtime.sparkHome}/bin/spark-class`,
      'org.apache.spark.deploy.master.Master',
      ...['--host', place.host, '--port', String(place.port), '--webui-port', String(place.webUiPort)],
    ],
    env: {
      ...daemonEnvironment(runtime, env, secrets),
      SPARK_MASTER_OPTS: `-Dspark.port.maxRetries=0 ${env['SPARK_MASTER_OPTS'] ?? ''}`.trim(),
    },
  };
}

/** Foreground standalone worker that joins the master at `masterUrl` and clears what ended applications left. */
export function workerCommand(
  runtime: SparkRuntime,
  env: Readonly<Record<string, string>>,
  secrets: DaemonSecrets,
  place: WorkerPlace,
  masterUrl: string,
): DaemonCommand {
  const cleanUp = '-Dspark.worker.cleanup.enabled=true -Dspark.worker.cleanup.appDataTtl=3600';
  return {
    argv: [
      `${runtime.sparkHome}/bin/spark-class`,
      'org.apache.spark.deploy.worker.Worker',
      ...['--host', place.host, '--port', '0', '--webui-port', String(place.webUiPort)],
      ...['--cores', String(place.cores), '--memory', `${place.memoryMb}m`, '--work-dir', place.workDir],
      masterUrl,
    ],
    env: {
      ...daemonEnvironment(runtime, env, secrets),
      // Behind the user's: without it the signal would end the worker with all that its executors hold.
      SPARK_WORKER_OPTS: [cleanUp, ...gpuOptions(place), env['SPARK_WORKER_OPTS'], '-Dspark.decommission.enabled=true']
        .filter(Boolean)
        .join(' '),
    },
  };
}

function gpuOptions({ gpus }: WorkerPlace): string[] {
  if (!gpus) return [];
  const name = 'spark.worker.resource.gpu';
  return [`-D${name}.amount=${gpus.amount}`, `-D${name}.discoveryScript=${gpus.discoveryScript}`];
}

/** What the node's environment says wins over the platform's defaults. Secrets are in variables: options are on command lines. */
function daemonEnvironment(
  { classArchive, connectors }: SparkRuntime,
  env: Readonly<Record<string, string>>,
  { spark, ui }: DaemonSecrets,
): Record<string, string> {
  const javaOptions = [
    ...classArchiveOption(classArchive),
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

/** What the master's `/json/` page says. */
export interface MasterStatus {
  alive: boolean;
  aliveWorkers: number;
  activeApplications: string[];
}

/** Reads the master's `/json/` page; null when it is something else. */
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

/** What the worker's `/json/` page says of its executors. */
export interface WorkerLoad {
  usedCores: number;
  executors: number;
}

/** Reads the worker's `/json/` page; null when it is something else. */
export function parseWorkerLoad(body: string): WorkerLoad | null {
  const page = parseObject(body);
  const [usedCores, executors] = [page?.['coresused'], page?.['executors']];
  if (!Number.isSafeInteger(usedCores) || !Array.isArray(executors)) return null;
  return { usedCores: Math.max(0, usedCores as number), executors: executors.length };
}

/** Whether the worker's `/json/` page names a master it is registered with. */
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
