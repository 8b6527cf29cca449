import { readFileSync } from 'node:fs';
import { parseTrusted } from '../json/parse-json';
import { type InterruptionNotice, NOTICE_KINDS } from './interruption';
import type { Confinement, NeededPaths } from './sandbox';

/** The agent's configuration file. Paths are absolute. */
export interface AgentConfig {
  /** Address of the control plane, such as `http://127.0.0.1:8080`. */
  api_url: string;
  /** One-time token that the agent exchanges for the node's own. */
  bootstrap_token: string;
  /** Disk of the node: journal, runs, logs, work folders. */
  node_dir: string;
  /** Folder of the agent's journal if the disk of the node is not persistent. */
  state_dir?: string;
  spark_home: string;
  java_home: string;
  python: string;
  /** Memory-mapped archive of this Spark's classes (scripts/class-archive); null or absent if the node has none. */
  class_archive?: string | null;
  /** Folder of the jars that connect to object stores (scripts/connectors); without it runs cannot have mounts. */
  connectors?: string | null;
  /** Folder of the kernel of Scala notebooks (scripts/scala-kernel); without it they cannot start. */
  scala_kernel?: string | null;
  /** Jar of DataFusion Comet; without it the node cannot belong to a cluster with turbo. */
  turbo?: string | null;
  /** Jar of RAPIDS; without it the node cannot belong to a cluster with CUDA. */
  rapids?: string | null;
  spark_version: string;
  cores: number;
  memory_mb: number;
  /** True if other nodes run on the machine. Then the utilization counts only the node's own processes. */
  shares_machine?: boolean;
  /** Address that Spark's daemons listen on and are reached at. */
  bind_address: string;
  /** Extra environment of daemons and runs. */
  env?: Record<string, string>;
  /** The isolation of runs from the agent and from each other. If absent, the agent chooses the strictest that works. */
  confinement?: Confinement;
  /** Folders of the machine that all jobs see, subject to file permissions. */
  shared_dirs?: string[];
  /** The source of the provider's notice that it reclaims a spot machine; absent if it gives none. */
  interruption_notice?: InterruptionNotice;
}

const TEXTS = [
  'api_url',
  'bootstrap_token',
  'node_dir',
  'spark_home',
  'java_home',
  'python',
  'spark_version',
  'bind_address',
];

/** Reads and checks the configuration file. The error names the first field that is wrong, never its value. */
export function readConfig(path: string): AgentConfig {
  let value: unknown;
  try {
    value = parseTrusted(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`The agent's configuration ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const config = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  for (const name of TEXTS)
    if (typeof config[name] !== 'string' || config[name] === '')
      throw new Error(`The agent's configuration ${path} has no text for ${name}.`);
  for (const name of ['cores', 'memory_mb'])
    if (typeof config[name] !== 'number')
      throw new Error(`The agent's configuration ${path} has no number for ${name}.`);
  const env = config['env'] ?? {};
  if (typeof env !== 'object' || Object.values(env).some((entry) => typeof entry !== 'string'))
    throw new Error(`The agent's configuration ${path} has a value in env that is not a text.`);
  const notice = config['interruption_notice'] as { kind?: unknown } | null | undefined;
  if (notice !== undefined && !NOTICE_KINDS.some((kind) => kind === notice?.kind))
    throw new Error(
      `The agent's configuration ${path} has an unknown kind of interruption_notice. Use one of ${NOTICE_KINDS.join(', ')}.`,
    );
  return value as AgentConfig;
}

/** Returns the paths of the node's programs. */
export function neededPaths(config: AgentConfig): NeededPaths {
  const { spark_home, java_home, class_archive = null, connectors = null, scala_kernel = null, python } = config;
  const { turbo = null, rapids = null } = config;
  return { paths: [spark_home, java_home, class_archive, connectors, scala_kernel, turbo, rapids], python };
}
