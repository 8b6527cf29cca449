/**
 * The protocol between a node agent and the control plane. The agent only makes outgoing calls: every exchange is an
 * HTTP request of the agent under {@link AGENT_BASE_PATH}, with `Authorization: Bearer <node token>` (the bootstrap
 * token on `register`). Every message can be repeated: reports carry sequence numbers, log chunks carry offsets.
 *
 * The two sides may be of different releases. Each ignores unknown fields, and each field's description says
 * what its absence means. A new field is therefore optional, and an old one keeps its meaning. Control planes before version 2
 * refuse (400) a body with an unknown field; the agent then sends it again without the field. `test/fixtures/releases` holds
 * recorded messages of earlier releases, which both sides must still accept.
 */
export const AGENT_BASE_PATH = '/agent/v1';

/** Increases with every change of this protocol. A side that sends no version has version 1. */
export const PROTOCOL_VERSION = 2;

/** Header by which every request of an agent carries its version. Older control planes ignore it. */
export const PROTOCOL_HEADER = 'x-agent-protocol';

/** Header that carries the correlation id of the intent behind a call, in both directions. */
export const CORRELATION_HEADER = 'x-correlation-id';

/** The part of a node in its cluster: `single` runs jobs in local mode, `master` and `worker` form a standalone cluster. */
export type NodeRole = 'single' | 'master' | 'worker' | 'master-and-workers';

/** `POST /agent/v1/register`: exchanges the bootstrap token of the node for its own token. */
export interface RegisterRequest {
  /**
   * Random id of this agent installation, kept in its journal. A repeated register request with the same id gets the same
   * response.
   */
  agent_id: string;
  hostname: string;
  pid: number;
}

/** `POST /agent/v1/boot-failure`, with the bootstrap token: the machine failed to boot and will start no agent. */
export interface BootFailureRequest {
  /** Says in a sentence what failed. */
  error: string;
}

export interface RegisterResponse {
  node_id: string;
  node_token: string;
  /**
   * The agent fences itself (kills its runs) this many milliseconds after it sent the last poll or report that got a
   * response.
   */
  lease_ms: number;
  /** Version of the control plane; version 1 sends none. */
  protocol_version?: number;
}

/** The Spark daemons that a node must run. Cores and memory are those that the worker offers to applications. */
export interface DesiredDaemons {
  role: NodeRole;
  /** Workers to run beside the master (`master-and-workers`) or on this node (`worker`: always 1). */
  workers: number;
  worker_cores: number;
  worker_memory_mb: number;
  /** `spark://host:port` of the master to join; null until it is known, and on nodes that run the master. */
  master_url: string | null;
  /** Shell script that runs once on a fresh node before Spark starts. If it fails, its output becomes the node's error. */
  bootstrap_script: string | null;
  /** Extra environment of daemons and runs, `KEY` to value. */
  env: Record<string, string>;
  /** Number of GPUs that the node's workers offer; absent if there are none, and in older releases. */
  gpus?: number;
  /** Timeout of the bootstrap script. Older releases send none, which means ten minutes. */
  bootstrap_timeout_ms?: number;
  /** Drivers that the node starts before their runs are known; absent if it starts none, and in older releases. */
  warm_drivers?: DesiredWarmDrivers;
  /**
   * Secret with which the daemons, drivers and executors of the cluster authenticate to each other; null if the cluster
   * has none. Absent while the control plane cannot decrypt it; the agent then keeps the value that it has.
   */
  spark_secret?: string | null;
}

/** The drivers that a node keeps ready for runs. */
export interface DesiredWarmDrivers {
  /** Maximum number of drivers that wait at one time. */
  count: number;
  /** Heap of the first ones, as `spark-submit` takes it; null for Spark's default. Later ones have those of the last runs. */
  driver_memory: string | null;
  /** They start only while the processor is idle: the maximum percentage of time in which something waits for it; 100 for always. */
  max_cpu_pressure: number;
  /** Number of runs that the node takes at one time. Older releases send none. */
  slots?: number;
}

/** A file of a run and its source. `name` is its file name in the staging folder. */
export interface RunFile {
  /** `fetched`: the agent gets it from `/agent/v1/runs/{run_id}/files/{index}?key={key}`; `uri`: Spark reads it itself. */
  kind: 'fetched' | 'uri';
  /** Number of the file among all files of the run. */
  index: number;
  /**
   * Distinguishes a fetched file from one that gets the same index when the cluster is edited while the run starts.
   * Older releases send none.
   */
  key?: string;
  name: string;
  uri: string | null;
  /** Folder that an archive is unpacked into; absent means that it is named like the file. */
  alias?: string;
}

/** Identifies a file of a run in a request for its content. */
export type RunFileAddress = Pick<RunFile, 'index' | 'key'>;

/** A path in an object store that jobs see as a directory. */
export interface RunMount {
  /** Absolute path without a trailing slash: `/mnt/data`. */
  mount_point: string;
  /** The API that the store speaks; a key of `libs/object-storage`. */
  provider: 'aws' | 'gcp' | 'azure' | 's3-compatible';
  /** Bucket or container. */
  bucket: string;
  /** Directory in the bucket, without a leading or trailing slash; empty for the whole bucket. */
  path: string;
  read_only: boolean;
  /** Name of the encryption type, such as `SSE-KMS`; null leaves it to the store. */
  encryption: string | null;
  /** Further Hadoop properties of this mount, which override those that the agent sets. */
  extra_configs: Record<string, string>;
  /** Values of the credentials configuration by their keys, such as `AWS_ACCESS_KEY_ID`. */
  credentials: Record<string, string>;
  /** Says why the mount cannot be used. The node starts no run with such a mount. */
  fault?: string;
}

/** The metastore of a run's cluster, with its credentials. */
export type RunMetastore = HiveOfRun | GlueOfRun | UnityOfRun | UnusableMetastore;

export interface HiveOfRun {
  kind: 'hive';
  /** Hadoop properties for Hive's client, such as `hive.metastore.uris`. Some are credentials. */
  properties: Record<string, string>;
}

/** The AWS Glue catalog of the keys' account. */
export interface GlueOfRun {
  kind: 'glue';
  region: string;
  access_key_id: string;
  secret_access_key: string;
}

/** Unity Catalog of Databricks, or an open-source Unity Catalog server. */
export interface UnityOfRun {
  kind: 'unity';
  /** URL of the workspace or server, with or without `/api/2.1/unity-catalog`. */
  endpoint: string;
  token: string;
  /** The catalogs that jobs see, the default one first. */
  catalogs: string[];
}

export interface UnusableMetastore {
  kind: 'unusable';
  /** Says why the metastore cannot be used. The node starts no run with it. */
  fault: string;
}

/** The secrets that the run's cluster gives to its jobs. */
export interface RunSecrets {
  /** Values by environment variable. */
  env: Record<string, string>;
  /** Values by Spark property. */
  conf: Record<string, string>;
  /** Says why the secrets cannot be used. The node starts no run with them. */
  fault?: string;
}

/** Query accelerators: DataFusion Comet (`turbo`), or RAPIDS on GPUs (`cuda`). */
export type AcceleratorKind = 'turbo' | 'cuda';

/** The accelerator of a run, a jar that is installed on its node. */
export type RunAccelerator = TurboOfRun | CudaOfRun;

export interface TurboOfRun {
  kind: 'turbo';
  /** Memory of the node that the run may use, heap included; MiB. */
  memory_mb: number;
}

export interface CudaOfRun {
  kind: 'cuda';
  /** Percentage of the GPU's memory that a driver in local mode may take. */
  gpu_percent: number;
}

export type RunKind = 'python' | 'jar' | 'raw-scala' | 'sql' | 'notebook' | 'function' | 'thrift';

/** Kinds whose process on the node receives requests and sends frames, instead of only running to its end. */
export const INTERACTIVE_KINDS: readonly RunKind[] = ['notebook', 'function', 'thrift'];

/**
 * Everything the agent needs to submit one run. Secrets are deleted with the run's staging folder, except the values of
 * `secrets`: the agent keeps them as long as the logs that it masks them in.
 */
export interface RunSpec {
  kind: RunKind;
  name: string;
  /** Application file; null for raw-scala and sql. */
  application: RunFile | null;
  /** Source text for raw-scala and sql. */
  code: string | null;
  class_name: string | null;
  arguments: string[];
  /** `local[n]` or `spark://…`. */
  master: string;
  /** Ordered `key=value` Spark properties; later entries win. */
  conf: string[];
  files: RunFile[];
  jars: RunFile[];
  py_files: RunFile[];
  archives: RunFile[];
  properties_files: RunFile[];
  packages: string[];
  /** URLs of further Maven repositories, each allowed by the tenant's administrators. */
  repositories: string[];
  /**
   * URL of the Maven repository that is searched after `repositories`, with a trailing slash. Older releases send none,
   * which means Maven Central.
   */
  maven_repository?: string;
  mounts: RunMount[];
  /**
   * Absent if the cluster has none, if the agent has received the run before, and in older releases.
   */
  metastore?: RunMetastore;
  /**
   * They override `env` and `conf`. Absent if the cluster names none, if the agent has received the run before, and in
   * older releases.
   */
  secrets?: RunSecrets;
  /** Present for notebooks only. */
  kernel?: { language: 'python' | 'sql' | 'scala' };
  /** Present for functions only. */
  function?: FunctionOfRun;
  /** A run that serves SQL ends after this long without a call; null means never. */
  sql_idle_timeout_sec?: number | null;
  driver_memory: string | null;
  /** Present if `driver_memory` is a default, which a properties file of the run overrides. */
  driver_memory_is_default?: true;
  /** Absent if the cluster has none, and in older releases. */
  accelerator?: RunAccelerator;
  driver_cores: number | null;
  driver_java_options: string | null;
  driver_library_path: string | null;
  driver_class_path: string | null;
  executor_memory: string | null;
  executor_cores: number | null;
  total_executor_cores: number | null;
  num_executors: number | null;
  principal: string | null;
  /** Path on the node. `keytab_file` overrides it. */
  keytab: string | null;
  /** Absent in older releases. */
  keytab_file?: RunFile;
  queue: string | null;
  env: Record<string, string>;
  /** The run ends with reason TIMEOUT after this long; null means no limit. */
  timeout_ms: number | null;
  /** Time between SIGTERM and SIGKILL. */
  kill_grace_ms: number;
}

/** A Python function that a run serves. */
export interface FunctionOfRun {
  /** The project's folder as a zip file. */
  project: RunFile;
  /** Path of the script within the project. */
  script: string;
  name: string;
  /** Requirements file for pip; null if there is none. */
  requirements_file: RunFile | null;
  /** Requirements for pip as text; null if there are none. */
  requirements: string | null;
  max_request_concurrency: number;
  /** The run ends after this long without a call; null means never. */
  idle_timeout_sec: number | null;
}

export interface DesiredRun {
  run_id: string;
  /** `run`: keep the run going unless it has ended; `stop`: end it. */
  action: 'run' | 'stop';
  correlation_id: string;
  spec: RunSpec;
  /**
   * Number of bytes that the log store already holds, so that a restarted agent resumes there. 0 if the agent has received
   * the run before, that is, if it polls with a version.
   */
  log_offsets: Record<LogStream, number>;
}

/** `POST /agent/v1/poll`: responds at once if the desired state is newer than `version`, else after `wait_ms`. */
export interface PollRequest {
  version: number;
  /** At most 30000. */
  wait_ms: number;
  /** Sent only after a response with `takes_utilization`, because older releases refuse a poll that has it. */
  utilization?: NodeUtilization;
}

/** Resources that a node has used since it last reported its utilization. */
export interface NodeUtilization {
  /** Thousandths of a core. */
  millicores: UtilizationSample;
  memory_mb: UtilizationSample;
  disk_mb: UtilizationSample & {
    /** Size of the disk, used and free. */
    total: number;
  };
}

/** Both are integers from 0 to {@link MAX_UTILIZATION}. */
export interface UtilizationSample {
  average: number;
  max: number;
}

export const MAX_UTILIZATION = 2 ** 31 - 1;

export interface PollResponse {
  version: number;
  daemons: DesiredDaemons;
  /** All runs of this node whose end the control plane has not recorded yet. */
  runs: DesiredRun[];
  /** Number of bytes kept of each stream of a run and of the node's own log; absent in older releases. */
  log_limit_bytes?: number;
  /** Version of the control plane; version 1 sends none. */
  protocol_version?: number;
  /**
   * True if the node is to be removed: its worker takes no more work and moves its shuffle data to others. Once true, it
   * stays true.
   */
  drain?: boolean;
  /** True if polls may have a `utilization`; absent in older releases. */
  takes_utilization?: boolean;
}

export type DaemonsState = 'starting' | 'ready' | 'failed';

/** The Spark daemons as the agent sees them. `ready` on a node without daemons means that it can take runs. */
export interface ObservedDaemons {
  state: DaemonsState;
  /** Present as soon as the master listens, which is before `ready`. */
  master_url: string | null;
  /** Says in one sentence why the daemons failed. The control plane keeps the beginning and the end of a long text. */
  error: string | null;
}

export type RunState = 'accepted' | 'running' | 'stopping' | 'killing' | 'ended';

export type RunOutcome = 'done' | 'error' | 'terminated' | 'stopped' | 'killed';

/** Stable codes for why a run ended. The report's `message` says it in a sentence. */
export const RUN_REASONS = [
  'COMPLETED',
  'APPLICATION_FAILED',
  'PYTHON_ERROR',
  'SQL_ERROR',
  'CLASS_NOT_FOUND',
  'DEPENDENCY_UNRESOLVED',
  'ACCESS_DENIED',
  'FILE_NOT_FOUND',
  'NOT_AN_ARCHIVE',
  'TIMEOUT',
  'STOP_REQUESTED',
  'OUT_OF_MEMORY',
  'EXECUTOR_OUT_OF_MEMORY',
  'SIGNALLED',
  'SUBMIT_FAILED',
  'STAGING_FAILED',
  'LEASE_EXPIRED',
  'NODE_LOST',
  'NODE_STOPPED',
  'SPOT_INTERRUPTED',
  'AGENT_ERROR',
] as const;
export type RunReason = (typeof RUN_REASONS)[number];

export interface RunReport {
  run_id: string;
  /** Increases by one with each report of the run. A report with the same or a lower number changes nothing. */
  seq: number;
  state: RunState;
  application_id: string | null;
  outcome: RunOutcome | null;
  reason: RunReason | null;
  message: string | null;
  exit_code: number | null;
  pid: number | null;
  at: string;
  /**
   * True if a driver that waited for runs has taken it, false if a driver was started for it. Absent until either is known, and unless
   * the control plane sends `warm_drivers`.
   */
  started_warm?: boolean;
  /** Says in one sentence why a driver was started for the run. Absent if none was. */
  cold_reason?: string;
  /**
   * Memory that the driver requests: its heap, and what an accelerator has beside it in the same process; MiB, at most
   * {@link MAX_UTILIZATION}. Sent with the end of a run, and absent as `peak_memory_mb` is.
   */
  requested_memory_mb?: number;
  /**
   * Highest resident memory of the run's processes on this node: the driver with its Python and all others, not executors elsewhere; MiB,
   * at most {@link MAX_UTILIZATION}. Sent with the end of a run. Absent if the run ended before it was measured, and in older releases.
   */
  peak_memory_mb?: number;
}

/** Load of a standalone cluster as its daemons on this node report it. No number is larger than {@link MAX_LOAD}. */
export interface NodeLoad {
  /** On a `master`, cores that applications have requested and not received; otherwise 0. */
  pending_cores: number;
  /** On a `worker`, cores in use by executors; otherwise 0. */
  used_cores: number;
  /** On a `worker`, the number of its executors; otherwise 0. */
  executors: number;
}

export const MAX_LOAD = 1_000_000;

/** The provider has announced that it takes the machine back. */
export interface NodeInterruption {
  /** The provider's own words. */
  detail: string;
  /** ISO 8601; null if the provider does not say when. */
  ends_at: string | null;
}

/** `POST /agent/v1/report`: sent whenever something has changed. The response is 200 `{}` once the report is committed. */
export interface ReportRequest {
  daemons: ObservedDaemons;
  runs: RunReport[];
  /** Absent while it is unknown, on nodes that are neither `master` nor `worker`, and in older releases. */
  load?: NodeLoad;
  /**
   * True if a draining node can be removed: its worker has no executor left, or a node of another role has no run left.
   * Absent means false.
   */
  drained?: boolean;
  /** Absent until the provider announces an interruption, then part of every report. */
  interruption?: NodeInterruption;
  /** Number of drivers that wait for runs. Absent unless the control plane sends `warm_drivers`. */
  warm_drivers?: number;
}

/** The streams of a run that are kept: its output, and Spark's event log as JSON lines, which older releases do not send. */
export type LogStream = OutputStream | 'events';

/** The streams of a node's own output that are kept. */
export type OutputStream = 'stdout' | 'stderr';

/**
 * `PUT /agent/v1/runs/{run_id}/logs/{stream}?offset=N` and `PUT /agent/v1/node/logs/{stream}?offset=N` with raw bytes:
 * appends the part that the store does not hold yet and responds with 200 {@link LogChunkResponse}. An offset beyond the end
 * changes nothing; `size` in the response says where to resume.
 */
export interface LogChunkResponse {
  size: number;
}

/**
 * `GET /agent/v1/runs/{run_id}/requests?after=N&wait_ms=M`: the requests to the process of a run after number N, as records
 * (`channel-records.ts`), at most {@link CHANNEL_CHUNK_BYTES} or one record. Responds at once if there are any, otherwise
 * with none after `wait_ms`, at most 30000. `after` acknowledges all requests up to N, which are then deleted.
 */
export interface RequestsQuery {
  after: number;
  wait_ms: number;
}

/**
 * `PUT /agent/v1/runs/{run_id}/frames` with records: the frames that the process of a run sends. Repeated records change
 * nothing, and records after a gap are discarded. 409 once the run has ended.
 */
export interface FramesResponse {
  /** Number of the next record that the store wants. */
  next: number;
}

/** Maximum size of a request or response with records, unless a single record is larger. */
export const CHANNEL_CHUNK_BYTES = 4 * 1024 * 1024;
