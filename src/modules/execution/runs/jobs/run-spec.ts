import { createHash } from 'node:crypto';
import type {
  AcceleratorKind,
  RunFile,
  RunMetastore,
  RunMount,
  RunSecrets,
  RunSpec,
} from '../../../../../libs/contracts/agent-protocol';
import { gpuPercent } from '../../../../../libs/spark/accelerator';
import { javaHeap } from '../../../../../libs/spark/memory-text';
import {
  type ClusterNode,
  configuredDriverMemory,
  defaultDriverHeap,
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

/** A configuration at the time when a run was submitted. */
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
  /** Absent if the cluster has none, or if the agent already has it. */
  metastore?: RunMetastore | undefined;
  /** Absent if the cluster names none, or if the agent already has them. */
  secrets?: RunSecrets | undefined;
  node: Pick<ClusterNode, 'role' | 'cores' | 'memory_mb' | 'master_url'>;
  killGraceMs: number;
  sqlIdleMinutes: number;
  /** The platform's repository, from which packages are resolved in addition to the configured ones. */
  mavenRepository: string;
}

/** A file that the node fetches by its key. */
export type KeyedFile = StagedFile & { key: string; isFolder?: boolean };

/** Assigns indexes and keys to the files of a run in a fixed order, so that a later request finds the same file. */
class FileList {
  readonly staged: KeyedFile[] = [];
  private next = 0;

  add(texts: readonly string[]): RunFile[] {
    return texts.filter((text) => text !== '').map((text) => this.addOne(text));
  }

  addArchives(texts: readonly string[]): RunFile[] {
    return texts
      .filter((text) => text !== '')
      .map((text) => {
        const { file, alias } = splitArchive(text);
        return alias === null ? this.addOne(file) : { ...this.addOne(file), alias };
      });
  }

  /** Adds a folder of the workspace, which is fetched as a zip file. */
  addFolder(path: string): RunFile {
    const file = this.addOne(`/${path}`);
    const staged = this.staged[file.index];
    if (staged) staged.isFolder = true;
    return { ...file, name: `${lastPart(path)}.zip` };
  }

  addOne(text: string): RunFile {
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

/** Normalizes `key value` (of a cluster) and `key=value` (of a job) to `key=value`. */
function confEntry(entry: string): string {
  const parsed = parseConfEntry(entry);
  return parsed ? `${parsed.key}=${parsed.value}` : entry;
}

/** Returns everything the agent needs for a run, and the file behind each index that it fetches. */
export function buildRunSpec(input: SpecInput): { spec: RunSpec; staged: KeyedFile[] } {
  const { settings, name } = input.snapshot;
  const kernel = kernelOf(input.snapshot);
  const files = new FileList();
  const application = settings.command === null ? null : files.addOne(settings.command);
  const merged = mergeClusterSettings(input, files);
  const spec: RunSpec = {
    kind: processKindOf(input.snapshot),
    name,
    application,
    code: settings.rawScalaCode,
    class_name: settings.class_name,
    arguments: splitArguments(input.arguments ?? settings.arguments ?? ''),
    master: input.node.role === 'single' ? `local[${input.node.cores}]` : (input.node.master_url ?? ''),
    ...merged,
    mounts: input.mounts,
    ...(input.metastore && { metastore: input.metastore }),
    ...(input.secrets && { secrets: input.secrets }),
    ...(kernel && { kernel }),
    ...functionSpec(input, files),
    ...(input.snapshot.job_type === 'THRIFT_SQL' && { sql_idle_timeout_sec: input.sqlIdleMinutes * 60 }),
    ...driverResources(input, merged.conf),
    ...resources(input),
    // After all other files: agents of older releases identify those by their indexes.
    ...keytabSpec(settings.keytab, files),
    timeout_ms: settings.job_timeout_min === null ? null : settings.job_timeout_min * 60_000,
    kill_grace_ms: input.killGraceMs,
    maven_repository: input.mavenRepository,
  };
  return { spec, staged: files.staged };
}

export function filesNamed(settings: Required<JobSettings>, cluster: SparkConfig): string[] {
  const { command, keytab } = settings;
  const requirements = requirementsFile(settings);
  const { archives, ...others } = fileLists(settings, cluster);
  const single = [command, keytab, requirements].filter((text) => text != null);
  return concat(
    single,
    ...Object.values(others),
    archives.map((text) => splitArchive(text).file),
  );
}

/** Returns all repositories from which a run with these settings loads packages, except the platform's. */
export function repositoriesNamed(settings: Required<JobSettings>, cluster: SparkConfig): string[] {
  return concat(cluster.repositories, settings.repositories);
}

/** Returns the files other than the application; the cluster's come before the job's. */
function fileLists(settings: Required<JobSettings>, cluster: SparkConfig) {
  return {
    files: concat(cluster.files, settings.files),
    jars: concat(cluster.jars, settings.jars),
    py_files: concat(cluster['py-files']),
    archives: concat(cluster.archives, settings.archives),
    properties_files: concat(settings.properties_file),
  };
}

/** Merges settings of the cluster and the job. The cluster's come first, because later entries win in Spark. */
function mergeClusterSettings(input: SpecInput, files: FileList) {
  const { settings } = input.snapshot;
  const cluster = input.sparkConfig;
  const lists = fileLists(settings, cluster);
  return {
    conf: concat(cluster.conf, settings.conf, input.conf).map(confEntry),
    files: files.add(lists.files),
    jars: files.add(lists.jars),
    py_files: files.add(lists.py_files),
    archives: files.addArchives(lists.archives),
    properties_files: files.add(lists.properties_files),
    packages: concat(cluster.packages, settings.packages),
    // In the normalized form that was checked, because parsers differ in how they read other forms.
    repositories: repositoriesNamed(settings, cluster).map((text) => repositoryUrl(text) ?? text),
    env: parseEnvironment(concat(cluster.env_var)),
  };
}

/** Returns the memory and the accelerator of the driver. The default memory is the job's share of the node's memory. */
function driverResources(
  { snapshot: { settings }, node, maxParallelJobs, accelerator }: SpecInput,
  conf: readonly string[],
): Pick<RunSpec, 'driver_memory' | 'driver_memory_is_default' | 'accelerator'> {
  const { heapMb, shareMb } = defaultDriverHeap(node, { maxParallelJobs, accelerator });
  const configured = settings.driver_memory ?? configuredDriverMemory(conf);
  return {
    ...(configured === null
      ? { driver_memory: `${heapMb}m`, driver_memory_is_default: true }
      : { driver_memory: javaHeap(configured) }),
    ...(accelerator === 'turbo' && { accelerator: { kind: accelerator, memory_mb: shareMb } }),
    ...(accelerator === 'cuda' && {
      accelerator: { kind: accelerator, gpu_percent: gpuPercent(maxParallelJobs) },
    }),
  };
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

/** Called after the files that agents of older releases know, so that their indexes do not change. */
function functionSpec(
  { snapshot: { settings, job_type: type } }: SpecInput,
  files: FileList,
): Pick<RunSpec, 'function'> {
  if (type !== 'PLATFORM_FUNCTIONS') return {};
  const requirements = requirementsFile(settings);
  const project = files.addFolder(projectOf(settings).folder);
  return {
    function: functionOfRun(settings, {
      project,
      requirements: requirements === null ? null : files.addOne(requirements),
    }),
  };
}

function keytabSpec(text: string | null, files: FileList): Pick<RunSpec, 'keytab' | 'keytab_file'> {
  if (!text) return { keytab: null };
  const file = files.addOne(text);
  return file.uri === null ? { keytab: text, keytab_file: file } : { keytab: file.uri.replace(/^file:\/*/i, '/') };
}

function concat(...lists: readonly (readonly string[] | null | undefined)[]): string[] {
  return lists.flatMap((list) => list ?? []);
}
