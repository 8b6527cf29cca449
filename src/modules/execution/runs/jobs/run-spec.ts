import { createHash } from 'node:crypto';
import type {
  AcceleratorKind,
  RunFile,
  RunMetastore,
  RunMount,
  RunSecrets,
  RunSpec,
} from '../../../../../libs/contracts/agent-protocol';
import { gpuPercent, heapWithin } from '../../../../../libs/spark/accelerator';
import {
  type ClusterNode,
  driverMemoryMb,
  MIN_DRIVER_MB,
  parseConfEntry,
  parseEnvironment,
  type SparkConfig,
} from '../../clusters';
import { repositoryUrl } from '../../../infrastructure/storage';
import type { JobSettings } from './dto/job-conf.dto';
import { parseFileReference, splitArchive, type StagedFile } from './file-reference';
import { functionOfRun, projectOf, requirementsFile } from './function-settings';
import { kernelOf, type NotebookLanguage, processKindOf, type JobLanguage } from './job-types';
import { splitArguments } from './split-arguments';

const DRIVER_MEMORY = 'spark.driver.memory';

/** A configuration as it was when a run was submitted. */
export interface JobConfSnapshot {
  job_conf_id: number;
  name: string;
  job_type: string;
  language: JobLanguage | NotebookLanguage;
  settings: Required<JobSettings>;
}

export interface SpecInput {
  snapshot: JobConfSnapshot;
  arguments: string | null;
  conf: string[] | null;
  sparkConfig: SparkConfig;
  maxParallelJobs: number;
  accelerator: AcceleratorKind | null;
  mounts: RunMount[];
  /** Absent for a cluster without one, and where it is known already. */
  metastore?: RunMetastore | undefined;
  /** Absent for a cluster that names none, and where they are known already. */
  secrets?: RunSecrets | undefined;
  node: Pick<ClusterNode, 'role' | 'cores' | 'memory_mb' | 'master_url'>;
  killGraceMs: number;
  sqlIdleMinutes: number;
  /** Where packages are resolved from besides the repositories that are named. */
  mavenRepository: string;
}

/** A file that the node fetches, and by which key. */
export type KeyedFile = StagedFile & { key: string; isFolder?: boolean };

/** Hands out indexes and keys over all files of a run, in a fixed order, so that a later request finds the same file. */
class FileList {
  readonly staged: KeyedFile[] = [];
  private next = 0;

  add(texts: readonly string[]): RunFile[] {
    return texts.filter((text) => text !== '').map((text) => this.one(text));
  }

  addArchives(texts: readonly string[]): RunFile[] {
    return texts
      .filter((text) => text !== '')
      .map((text) => {
        const { file, alias } = splitArchive(text);
        return alias === null ? this.one(file) : { ...this.one(file), alias };
      });
  }

  /** A folder of the workspace, which is fetched as a zip file. */
  folder(path: string): RunFile {
    const file = this.one(`/${path}`);
    const staged = this.staged[file.index];
    if (staged) staged.isFolder = true;
    return { ...file, name: `${lastPart(path)}.zip` };
  }

  one(text: string): RunFile {
    const reference = parseFileReference(text);
    const index = this.next;
    this.next += 1;
    if (reference.kind === 'uri') return { kind: 'uri', index, name: lastPart(reference.uri), uri: reference.uri };
    const key = createHash('sha256').update(text).digest('base64url');
    this.staged[index] = { ...reference, key };
    return { kind: 'fetched', index, key, name: lastPart(reference.path), uri: null };
  }
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path;
}

/** `key value` of a cluster or `key=value` of a job as `key=value`. */
function confEntry(entry: string): string {
  const parsed = parseConfEntry(entry);
  return parsed ? `${parsed.key}=${parsed.value}` : entry;
}

/** Everything the agent needs for a run, and what is behind the index of each file that it fetches. */
export function buildRunSpec(input: SpecInput): { spec: RunSpec; staged: KeyedFile[] } {
  const { settings, name } = input.snapshot;
  const kernel = kernelOf(input.snapshot);
  const files = new FileList();
  const application = settings.command === null ? null : files.one(settings.command);
  const ofCluster = inherited(input, files);
  const spec: RunSpec = {
    kind: processKindOf(input.snapshot),
    name,
    application,
    code: settings.rawScalaCode,
    class_name: settings.class_name,
    arguments: splitArguments(input.arguments ?? settings.arguments ?? ''),
    master: input.node.role === 'single' ? `local[${input.node.cores}]` : (input.node.master_url ?? ''),
    ...ofCluster,
    mounts: input.mounts,
    ...(input.metastore && { metastore: input.metastore }),
    ...(input.secrets && { secrets: input.secrets }),
    ...(kernel && { kernel }),
    ...served(input, files),
    ...(input.snapshot.job_type === 'THRIFT_SQL' && { sql_idle_timeout_sec: input.sqlIdleMinutes * 60 }),
    ...driverResources(input, ofCluster.conf),
    ...resources(input),
    // Behind all others, whose indexes agents of older releases go by.
    ...keytab(settings.keytab, files),
    timeout_ms: settings.job_timeout_min === null ? null : settings.job_timeout_min * 60_000,
    kill_grace_ms: input.killGraceMs,
    maven_repository: input.mavenRepository,
  };
  return { spec, staged: files.staged };
}

/** Every file that a run of these settings names. */
export function filesNamed(settings: Required<JobSettings>, cluster: SparkConfig): string[] {
  const { command, keytab } = settings;
  const requirements = requirementsFile(settings);
  const { archives, ...others } = fileLists(settings, cluster);
  const single = [command, keytab, requirements].filter((text) => text != null);
  return joined(
    single,
    ...Object.values(others),
    archives.map((text) => splitArchive(text).file),
  );
}

/** Every repository that a run of these settings loads packages from, besides the platform's own. */
export function repositoriesNamed(settings: Required<JobSettings>, cluster: SparkConfig): string[] {
  return joined(cluster.repositories, settings.repositories);
}

/** The files besides the application, the cluster's before the job's. */
function fileLists(settings: Required<JobSettings>, cluster: SparkConfig) {
  return {
    files: joined(cluster.files, settings.files),
    jars: joined(cluster.jars, settings.jars),
    py_files: joined(cluster['py-files']),
    archives: joined(cluster.archives, settings.archives),
    properties_files: joined(settings.properties_file),
  };
}

/** Settings that the cluster's come before: later entries win in Spark. */
function inherited(input: SpecInput, files: FileList) {
  const { settings } = input.snapshot;
  const cluster = input.sparkConfig;
  const named = fileLists(settings, cluster);
  return {
    conf: joined(cluster.conf, settings.conf, input.conf).map(confEntry),
    files: files.add(named.files),
    jars: files.add(named.jars),
    py_files: files.add(named.py_files),
    archives: files.addArchives(named.archives),
    properties_files: files.add(named.properties_files),
    packages: joined(cluster.packages, settings.packages),
    // In the form that was compared: parsers differ in how they read others.
    repositories: repositoriesNamed(settings, cluster).map((text) => repositoryUrl(text) ?? text),
    env: parseEnvironment(joined(cluster.env_var)),
  };
}

/** The driver's memory, and what else the node has for it: unless somebody names it, the job's part of the node's memory. */
function driverResources(
  { snapshot: { settings }, node, maxParallelJobs, accelerator }: SpecInput,
  conf: readonly string[],
): Pick<RunSpec, 'driver_memory' | 'driver_memory_is_default' | 'accelerator'> {
  // Of clusters that an earlier release let have more jobs than their nodes have room for.
  const share = Math.max(MIN_DRIVER_MB, driverMemoryMb(node.memory_mb, maxParallelJobs));
  const heap = node.role === 'single' ? heapWithin(share, accelerator) : share;
  const named = settings.driver_memory ?? valueOf(DRIVER_MEMORY, conf);
  return {
    ...(named === null ? { driver_memory: `${heap}m`, driver_memory_is_default: true } : { driver_memory: named }),
    ...(accelerator === 'turbo' && { accelerator: { kind: accelerator, memory_mb: share } }),
    ...(accelerator === 'cuda' && {
      accelerator: { kind: accelerator, gpu_percent: gpuPercent(maxParallelJobs) },
    }),
  };
}

/** The last value that `key=value` entries give a property, as Spark reads a number; null if none does. */
function valueOf(key: string, conf: readonly string[]): string | null {
  return (
    conf
      .findLast((entry) => entry.startsWith(`${key}=`))
      ?.slice(key.length + 1)
      .trim() ?? null
  );
}

function resources({ snapshot: { settings } }: SpecInput) {
  return {
    driver_cores: settings.driver_cores,
    driver_java_options: settings.driver_java_options,
    driver_library_path: settings.driver_library_path,
    driver_class_path: settings.driver_class_path,
    executor_memory: settings.executor_memory,
    executor_cores: settings.executor_cores,
    total_executor_cores: settings.total_executor_cores,
    num_executors: settings.num_executors,
    principal: settings.principal,
    queue: settings.queue,
  };
}

/** Behind the files that agents of older releases know. */
function served({ snapshot: { settings, job_type: type } }: SpecInput, files: FileList): Pick<RunSpec, 'function'> {
  if (type !== 'PLATFORM_FUNCTIONS') return {};
  const requirements = requirementsFile(settings);
  const project = files.folder(projectOf(settings).folder);
  return {
    function: functionOfRun(settings, {
      project,
      requirements: requirements === null ? null : files.one(requirements),
    }),
  };
}

function keytab(text: string | null, files: FileList): Pick<RunSpec, 'keytab' | 'keytab_file'> {
  if (!text) return { keytab: null };
  const file = files.one(text);
  return file.uri === null ? { keytab: text, keytab_file: file } : { keytab: file.uri.replace(/^file:\/*/i, '/') };
}

function joined(...lists: readonly (readonly string[] | null | undefined)[]): string[] {
  return lists.flatMap((list) => list ?? []);
}
