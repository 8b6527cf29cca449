import { createHash } from 'node:crypto';
import type { RunFile, RunMount, RunSpec } from '../../../libs/contracts/agent-protocol';
import { type ClusterNode, parseEnvironment, type SparkConfig } from '../clusters/clusters.contract';
import type { JobSettings } from './dto/job-conf.dto';
import { parseFileReference, type StagedFile } from './file-reference';
import { JOB_TYPE_RULES, type RunnableLanguage } from './job-types';
import { splitArguments } from './split-arguments';

/** A configuration as it was when a run was submitted. */
export interface JobConfSnapshot {
  job_conf_id: number;
  name: string;
  job_type: string;
  language: RunnableLanguage;
  settings: Required<JobSettings>;
}

export interface SpecInput {
  snapshot: JobConfSnapshot;
  arguments: string | null;
  conf: string[] | null;
  sparkConfig: SparkConfig;
  maxParallelJobs: number;
  mounts: RunMount[];
  node: Pick<ClusterNode, 'role' | 'cores' | 'memory_mb' | 'master_url'>;
  killGraceMs: number;
}

/** A file that the node fetches, and by which key. */
export type KeyedFile = StagedFile & { key: string };

/** Hands out indexes and keys over all files of a run, in a fixed order, so that a later request finds the same file. */
class FileList {
  readonly staged: KeyedFile[] = [];
  private next = 0;

  add(texts: readonly string[]): RunFile[] {
    return texts.filter((text) => text !== '').map((text) => this.one(text));
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
  const match = /^([^\s=]+)(?:\s+|=)([\s\S]*)$/.exec(entry.trim());
  return match ? `${match[1]}=${match[2]}` : entry;
}

/** Memory of one driver when the job names none: the node's memory shared by the jobs it may run at once, MiB. */
export function defaultDriverMemoryMb(memoryMb: number, maxParallelJobs: number): number {
  const reserved = 1024;
  return Math.max(512, Math.floor((memoryMb - reserved) / maxParallelJobs));
}

/** Everything the agent needs for a run, and what is behind the index of each file that it fetches. */
export function buildRunSpec(input: SpecInput): { spec: RunSpec; staged: KeyedFile[] } {
  const { settings, language, name } = input.snapshot;
  const files = new FileList();
  const spec: RunSpec = {
    kind: JOB_TYPE_RULES[language].kind,
    name,
    application: settings.command === null ? null : files.one(settings.command),
    code: settings.rawScalaCode,
    class_name: settings.class_name,
    arguments: splitArguments(input.arguments ?? settings.arguments ?? ''),
    master: input.node.role === 'single' ? `local[${input.node.cores}]` : (input.node.master_url ?? ''),
    ...inherited(input, files),
    mounts: input.mounts,
    ...resources(input),
    timeout_ms: settings.job_timeout_min === null ? null : settings.job_timeout_min * 60_000,
    kill_grace_ms: input.killGraceMs,
  };
  return { spec, staged: files.staged };
}

/** Every file that a run of these settings names. */
export function filesNamed(settings: Required<JobSettings>, cluster: SparkConfig): string[] {
  return joined(settings.command === null ? [] : [settings.command], ...Object.values(fileLists(settings, cluster)));
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
    archives: files.add(named.archives),
    properties_files: files.add(named.properties_files),
    packages: joined(cluster.packages, settings.packages),
    repositories: joined(cluster.repositories, settings.repositories),
    env: parseEnvironment(joined(cluster.env_var)),
  };
}

function resources({ snapshot: { settings }, node, maxParallelJobs }: SpecInput) {
  return {
    driver_memory: settings.driver_memory ?? `${defaultDriverMemoryMb(node.memory_mb, maxParallelJobs)}m`,
    driver_cores: settings.driver_cores,
    driver_java_options: settings.driver_java_options,
    driver_library_path: settings.driver_library_path,
    driver_class_path: settings.driver_class_path,
    executor_memory: settings.executor_memory,
    executor_cores: settings.executor_cores,
    total_executor_cores: settings.total_executor_cores,
    num_executors: settings.num_executors,
    principal: settings.principal,
    keytab: settings.keytab,
    queue: settings.queue,
  };
}

function joined(...lists: readonly (readonly string[] | null | undefined)[]): string[] {
  return lists.flatMap((list) => list ?? []);
}
