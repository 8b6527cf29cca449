import { readFileSync } from 'node:fs';
import { parseTrusted } from '../json/parse-json';
import { type InterruptionNotice, NOTICE_KINDS } from './interruption';
import type { Confinement, NeededPaths } from './sandbox';

/** The agent's configuration file. Paths are absolute. */
export interface AgentConfig {
  /** Where the control plane is, such as `http://127.0.0.1:8080`. */
  api_url: string;
  /** One-time token exchanged for the node's own. */
  bootstrap_token: string;
  /** Disk of the node: journal, runs, logs, work folders. */
  node_dir: string;
  /** Where the journal is if not on the disk of the node, which may come back empty. */
  state_dir?: string;
  spark_home: string;
  java_home: string;
  python: string;
  /** Classes of this Spark ready to map (scripts/class-archive); null or absent where the node has none. */
  class_archive?: string | null;
  /** Folder of the jars that reach object stores (scripts/connectors); without it runs cannot have mounts. */
  connectors?: string | null;
  /** Folder of the kernel of Scala notebooks (scripts/scala-kernel); without it they cannot be started. */
  scala_kernel?: string | null;
  /** Jar of DataFusion Comet; without it the node cannot be of a cluster with turbo. */
  turbo?: string | null;
  /** Jar of RAPIDS; without it the node cannot be of a cluster with CUDA. */
  rapids?: string | null;
  spark_version: string;
  cores: number;
  memory_mb: number;
  /** Whether other nodes run on the machine, too: then the node uses what its own processes use. */
  shares_machine?: boolean;
  /** Address that Spark's daemons listen on and are reached at. */
  bind_address: string;
  /** Extra environment of daemons and runs. */
  env?: Record<string, string>;
  /** How runs are isolated from the agent and from each other; if absent, the agent chooses what the machine offers. */
  confinement?: Confinement;
  /** Folders of the machine that all jobs see, as far as permissions let them. */
  shared_dirs?: string[];
  /** Where the provider announces that it takes a spot machine back; absent where it does not. */
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

/** Reads and checks the configuration file; the error names the first field that is wrong, never its value. */
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
      throw new Error(`The agent's configuration ${path} needs a text for ${name}.`);
  for (const name of ['cores', 'memory_mb'])
    if (typeof config[name] !== 'number')
      throw new Error(`The agent's configuration ${path} needs a number for ${name}.`);
  const env = config['env'] ?? {};
  if (typeof env !== 'object' || Object.values(env).some((entry) => typeof entry !== 'string'))
    throw new Error(`The agent's configuration ${path} needs texts in env.`);
  const notice = config['interruption_notice'] as { kind?: unknown } | null | undefined;
  if (notice !== undefined && !NOTICE_KINDS.some((kind) => kind === notice?.kind))
    throw new Error(`The agent's configuration ${path} needs ${NOTICE_KINDS.join(', ')} as the kind of its notice.`);
  return value as AgentConfig;
}

/** What the node's programs are made of. */
export function neededPaths(config: AgentConfig): NeededPaths {
  const { spark_home, java_home, class_archive = null, connectors = null, scala_kernel = null, python } = config;
  const { turbo = null, rapids = null } = config;
  return { paths: [spark_home, java_home, class_archive, connectors, scala_kernel, turbo, rapids], python };
}
