/**
 * What a node agent and the control plane say to each other. The agent only makes outgoing calls: every exchange is an
 * HTTP request of the agent under {@link AGENT_BASE_PATH}, with `Authorization: Bearer <node token>` (the bootstrap
 * token on `register`). Every message can be repeated: reports carry sequence numbers, log chunks carry offsets.
 *
 * The two sides may be of different releases. Each ignores fields that it does not know, and takes one that is absent for
 * what its description says; so a new field is optional, and an old one keeps its meaning. Control planes before version 2
 * refuse (400) a body with a field that they do not know: then the agent sends it without. `test/fixtures/releases` holds
 * both sides to what earlier releases said.
 */
export const AGENT_BASE_PATH = '/agent/v1';

/** Raised with every change of what is said here; who says none speaks version 1. */
export const PROTOCOL_VERSION = 2;

/** Header of every request by which the agent says its version: one that older control planes do not refuse. */
export const PROTOCOL_HEADER = 'x-agent-protocol';

/** Header that carries the correlation id of the intent behind a call, in both directions. */
export const CORRELATION_HEADER = 'x-correlation-id';

/** What a node is in its cluster: `single` runs jobs in local mode, `master` and `worker` form a standalone cluster. */
export type NodeRole = 'single' | 'master' | 'worker' | 'master-and-workers';

/** `POST /agent/v1/register`: exchanges the bootstrap token of the node for its own token. */
export interface RegisterRequest {
  /**
   * Random id of this agent installation, kept in its journal; a repeated register with the same id gets the same
   * answer.
   */
  agent_id: string;
  hostname: string;
  pid: number;
}

/** `POST /agent/v1/boot-failure`, with the bootstrap token: the machine has not got as far as an agent, and will not. */
export interface BootFailureRequest {
  /** What failed, for people. */
  error: string;
}

export interface RegisterResponse {
  node_id: string;
  node_token: string;
  /**
   * The agent fences itself (kills its runs) when this long has passed since it began the last poll or report that was
   * answered; milliseconds.
   */
  lease_ms: number;
  /** That of the control plane; absent of version 1. */
  protocol_version?: number;
}

/** Spark daemons a node must run. Cores and memory are what the worker offers to applications. */
export interface DesiredDaemons {
  role: NodeRole;
  /** Workers to run beside the master (`master-and-workers`) or on this node (`worker`: always 1). */
  workers: number;
  worker_cores: number;
  worker_memory_mb: number;
  /** `spark://host:port` of the master to join; null until it is known, and on nodes that run the master. */
  master_url: string | null;
  /** Shell script that runs once before Spark on a fresh node; its failure is the node's error, with its output. */
  bootstrap_script: string | null;
  /** Extra environment of daemons and runs, `KEY` to value. */
  env: Record<string, string>;
  /** GPUs of the node that its workers offer; absent for none, and from control planes of older releases. */
  gpus?: number;
  /** The bootstrap script has so long; control planes of older releases send none, which means ten minutes. */
  bootstrap_timeout_ms?: number;
  /**
   * Secret with which the daemons, drivers and executors of the cluster authenticate to each other; null for a cluster
   * without. Absent while the control plane cannot decrypt it: the agent keeps what it knows.
   */
  spark_secret?: string | null;
}

/** Where a file of a run comes from; `name` is its file name in the staging folder. */
export interface RunFile {
  /** `fetched`: from `GET /agent/v1/runs/{run_id}/files/{index}?key={key}`; `uri`: Spark reads it itself. */
  kind: 'fetched' | 'uri';
  /** Index for the fetch, counted over all files of the run. */
  index: number;
  /**
   * Of a fetched file: distinguishes it from another file that gets its index while the run begins, because the cluster
   * is edited. Control planes of older releases send none.
   */
  key?: string;
  name: string;
  uri: string | null;
  /** Of an archive: the folder it is unpacked to; absent means that it is named like the file. */
  alias?: string;
}

/** What a file of a run is asked for by. */
export type RunFileAddress = Pick<RunFile, 'index' | 'key'>;

/** A path of an object store that jobs see as a directory. */
export interface RunMount {
  /** Absolute path without a trailing slash: `/mnt/data`. */
  mount_point: string;
  /** By whose API the store is reached; the values are the keys of `libs/object-storage`. */
  provider: 'aws' | 'gcp' | 'azure' | 's3-compatible';
  /** Bucket or container. */
  bucket: string;
  /** Directory of the bucket without slashes at its ends; empty for the whole bucket. */
  path: string;
  read_only: boolean;
  /** Name of the encryption type, such as `SSE-KMS`; null leaves it to the store. */
  encryption: string | null;
  /** Further Hadoop properties of this mount; they win over those that the agent sets. */
  extra_configs: Record<string, string>;
  /** Values of the credentials configuration by their keys, such as `AWS_ACCESS_KEY_ID`. */
  credentials: Record<string, string>;
  /** Why the mount cannot be used, in sentences; the node starts no run with such a mount. */
  fault?: string;
}

/** The metastore of a run's cluster, with what opens it. */
export type RunMetastore = HiveOfRun | GlueOfRun | UnityOfRun | UnusableMetastore;

export interface HiveOfRun {
  kind: 'hive';
  /** Hadoop properties by which Hive's client reaches it, `hive.metastore.uris` among them; some are credentials. */
  properties: Record<string, string>;
}

/** AWS Glue, of the account and in the region of the keys. */
export interface GlueOfRun {
  kind: 'glue';
  region: string;
  access_key_id: string;
  secret_access_key: string;
}

/** Unity Catalog of Databricks, or a server of one's own. */
export interface UnityOfRun {
  kind: 'unity';
  /** URL of the workspace or server, with or without `/api/2.1/unity-catalog`. */
  endpoint: string;
  token: string;
  /** Those that jobs see, the default one first. */
  catalogs: string[];
}

export interface UnusableMetastore {
  kind: 'unusable';
  /** Why it cannot be used, in sentences; the node starts no run with such a metastore. */
  fault: string;
}

/** The values of secrets that the run's cluster names for its jobs. */
export interface RunSecrets {
  /** By environment variable. */
  env: Record<string, string>;
  /** By Spark property. */
  conf: Record<string, string>;
  /** Why they cannot be used, in sentences; the node starts no run with such secrets. */
  fault?: string;
}

/** What speeds up queries: DataFusion Comet, or RAPIDS on GPUs. */
export type AcceleratorKind = 'turbo' | 'cuda';

/** What speeds up the queries of a run, by a jar that its node has. */
export type RunAccelerator = TurboOfRun | CudaOfRun;

export interface TurboOfRun {
  kind: 'turbo';
  /** What the run may use of its node's memory, heap included; MiB. */
  memory_mb: number;
}

export interface CudaOfRun {
  kind: 'cuda';
  /** Of its GPU's memory, what a driver in local mode may take. */
  gpu_percent: number;
}

export type RunKind = 'python' | 'jar' | 'raw-scala' | 'sql' | 'notebook' | 'function' | 'thrift';

/** Kinds whose process on the node is sent requests and answers with frames, instead of only running to its end. */
export const INTERACTIVE_KINDS: readonly RunKind[] = ['notebook', 'function', 'thrift'];

/**
 * Everything the agent needs to submit one run. No secret outlives the run's staging folder, but the values of `secrets`,
 * which the agent keeps for as long as the logs that it hides them in.
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
  /** URLs of further repositories that packages come from, each allowed by the tenant's administrators. */
  repositories: string[];
  /**
   * URL of the Maven repository that packages are resolved from behind the `repositories`, with a slash at its end. Control
   * planes of older releases send none, which means Maven Central.
   */
  maven_repository?: string;
  mounts: RunMount[];
  /**
   * Absent for a cluster without one, for an agent that has been told of the run before, and from control planes of older
   * releases.
   */
  metastore?: RunMetastore;
  /**
   * They win over `env` and `conf`. Absent for a cluster that names none, for an agent that has been told of the run before,
   * and from control planes of older releases.
   */
  secrets?: RunSecrets;
  /** Of a notebook. */
  kernel?: { language: 'python' | 'sql' | 'scala' };
  /** Of a function. */
  function?: FunctionOfRun;
  /** Of a run that serves SQL: it ends after so long without a call; null means never. */
  sql_idle_timeout_sec?: number | null;
  driver_memory: string | null;
  /** That nobody named `driver_memory`: a properties file of the run wins over it. */
  driver_memory_is_default?: true;
  /** Absent for a cluster without one, and from control planes of older releases. */
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
  /** Path on the node; `keytab_file` wins over it. */
  keytab: string | null;
  /** Absent of older control planes. */
  keytab_file?: RunFile;
  queue: string | null;
  env: Record<string, string>;
  /** The run is ended with reason TIMEOUT after this long; null means no limit. */
  timeout_ms: number | null;
  /** Between the polite end (SIGTERM) and the forced one (SIGKILL). */
  kill_grace_ms: number;
}

/** A function of Python that a run serves. */
export interface FunctionOfRun {
  /** Fetched as a zip file of the folder. */
  project: RunFile;
  /** Path of the script in that folder. */
  script: string;
  name: string;
  /** A file in the format of pip; null without one. */
  requirements_file: RunFile | null;
  /** The same as text. */
  requirements: string | null;
  max_request_concurrency: number;
  /** The run ends after so long without a call; null means never. */
  idle_timeout_sec: number | null;
}

export interface DesiredRun {
  run_id: string;
  /** `run`: keep it running unless it has already ended; `stop`: end it. */
  action: 'run' | 'stop';
  correlation_id: string;
  spec: RunSpec;
  /**
   * Length in bytes the log store already holds, so that a restarted agent resumes there; 0 for an agent that has been
   * told of the run before, which is one that polls with a version.
   */
  log_offsets: Record<LogStream, number>;
}

/** `POST /agent/v1/poll`: answers at once when the desired state is newer than `version`, else after `wait_ms`. */
export interface PollRequest {
  version: number;
  /** At most 30000. */
  wait_ms: number;
  /** Sent only if the last answer asked for it: control planes of older releases refuse a poll with it. */
  utilization?: NodeUtilization;
}

/** What a node used since the poll in which it last said so. */
export interface NodeUtilization {
  /** Thousandths of a core. */
  millicores: UtilizationSample;
  memory_mb: UtilizationSample;
  disk_mb: UtilizationSample & {
    /** Used and free together. */
    total: number;
  };
}

/** Whole numbers of at most {@link MAX_UTILIZATION}. */
export interface UtilizationSample {
  average: number;
  max: number;
}

export const MAX_UTILIZATION = 2 ** 31 - 1;

export interface PollResponse {
  version: number;
  daemons: DesiredDaemons;
  /** Every run of this node whose end the control plane has not yet recorded. */
  runs: DesiredRun[];
  /** Bytes of each stream of a run, and of the node's own log, that are kept; absent of older control planes. */
  log_limit_bytes?: number;
  /** That of the control plane; absent of version 1. */
  protocol_version?: number;
  /**
   * The node is to go: its worker moves what it holds to others and takes no more work. Absent means that it stays; there
   * is no way back.
   */
  drain?: boolean;
  /** Whether polls may have a `utilization`; absent of older control planes. */
  takes_utilization?: boolean;
}

export type DaemonsState = 'starting' | 'ready' | 'failed';

/** What the agent sees of the Spark daemons; `ready` without daemons means the node can take runs. */
export interface ObservedDaemons {
  state: DaemonsState;
  /** Known as soon as the master listens, which is before `ready`. */
  master_url: string | null;
  /** Why it failed, in one sentence. The control plane keeps only the beginning and the end of a longer text. */
  error: string | null;
}

export type RunState = 'accepted' | 'running' | 'stopping' | 'killing' | 'ended';

export type RunOutcome = 'done' | 'error' | 'terminated' | 'stopped' | 'killed';

/** Stable codes for why a run ended; `message` beside it is the sentence for people. */
export type RunReason =
  | 'COMPLETED'
  | 'APPLICATION_FAILED'
  | 'PYTHON_ERROR'
  | 'SQL_ERROR'
  | 'CLASS_NOT_FOUND'
  | 'DEPENDENCY_UNRESOLVED'
  | 'ACCESS_DENIED'
  | 'FILE_NOT_FOUND'
  | 'NOT_AN_ARCHIVE'
  | 'TIMEOUT'
  | 'STOP_REQUESTED'
  | 'OUT_OF_MEMORY'
  | 'EXECUTOR_OUT_OF_MEMORY'
  | 'SIGNALLED'
  | 'SUBMIT_FAILED'
  | 'STAGING_FAILED'
  | 'LEASE_EXPIRED'
  | 'NODE_LOST'
  | 'NODE_STOPPED'
  | 'SPOT_INTERRUPTED'
  | 'AGENT_ERROR';

export interface RunReport {
  run_id: string;
  /** Grows by one with each report of this run; an older or equal one changes nothing. */
  seq: number;
  state: RunState;
  application_id: string | null;
  outcome: RunOutcome | null;
  reason: RunReason | null;
  message: string | null;
  exit_code: number | null;
  pid: number | null;
  at: string;
}

/** What a standalone cluster does, as its daemons on this node tell; none of the numbers is larger than {@link MAX_LOAD}. */
export interface NodeLoad {
  /** Of a `master`: cores that its applications ask for and have not been given; else 0. */
  pending_cores: number;
  /** Of a `worker`: cores that executors have; else 0. */
  used_cores: number;
  /** Of a `worker`: how many executors it runs; else 0. */
  executors: number;
}

export const MAX_LOAD = 1_000_000;

/** The provider has announced that it takes the machine back. */
export interface NodeInterruption {
  /** In the provider's words. */
  detail: string;
  /** ISO 8601; null if the provider does not say when. */
  ends_at: string | null;
}

/** `POST /agent/v1/report`: sent whenever something changed; answered 200 `{}` once committed. */
export interface ReportRequest {
  daemons: ObservedDaemons;
  runs: RunReport[];
  /** Absent while it is unknown, of nodes that are neither `master` nor `worker`, and of older agents. */
  load?: NodeLoad;
  /**
   * Of a node that is to go: its worker has no executor left, or, on nodes of other roles, no run is left. Absent is false.
   */
  drained?: boolean;
  /** Absent until there is a notice; then in every report. */
  interruption?: NodeInterruption;
}

/** What is kept of a run: its output, and Spark's event log, JSON lines; agents of older releases send no events. */
export type LogStream = OutputStream | 'events';

/** What is kept of a node's own output. */
export type OutputStream = 'stdout' | 'stderr';

/**
 * `PUT /agent/v1/runs/{run_id}/logs/{stream}?offset=N` and `PUT /agent/v1/node/logs/{stream}?offset=N` with raw bytes:
 * appends the part beyond what the store holds. 200 {@link LogChunkResponse}; an offset beyond the end changes
 * nothing and the answer's `size` says where to resume.
 */
export interface LogChunkResponse {
  size: number;
}

/**
 * `GET /agent/v1/runs/{run_id}/requests?after=N&wait_ms=M`: what the process of a run is asked, behind number N, as records
 * (`channel-records.ts`), at most {@link CHANNEL_CHUNK_BYTES} or one record. Answers at once if there are any, else after
 * `wait_ms`, at most 30000, with none. `after` says that the node has kept all up to N: they are forgotten.
 */
export interface RequestsQuery {
  after: number;
  wait_ms: number;
}

/**
 * `PUT /agent/v1/runs/{run_id}/frames` with records: what the process of a run says. Repeated records change nothing, and of
 * records behind a gap none is kept. 409 once the run has ended.
 */
export interface FramesResponse {
  /** Number of the next record that the store wants. */
  next: number;
}

/** Most bytes of one request or answer with records, unless a single one is longer. */
export const CHANNEL_CHUNK_BYTES = 4 * 1024 * 1024;
