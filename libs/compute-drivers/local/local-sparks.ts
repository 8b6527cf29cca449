import { type ChildProcess, spawn } from 'node:child_process';
import { isAbsolute } from 'node:path';
import { parseTrusted } from '../../json/parse-json';
import { pause } from '../../node-agent/waiting';
import { ComputeDriverError } from '../compute-driver';

/** One Spark of a machine, with what belongs to it. All paths are absolute; null for parts that the machine lacks. */
export interface InstalledSpark {
  home: string;
  classArchive: string | null;
  connectors: string | null;
  scalaKernel: string | null;
  turbo: string | null;
}

/** The line that the program prints. */
interface Described {
  home: string;
  class_archive?: string | null;
  connectors?: string | null;
  scala_kernel?: string | null;
  turbo?: string | null;
}

export interface SparkInstallerOptions {
  /** Program that is called with a version and prints one line of JSON. */
  program: string;
  /** Versions that it can install. */
  versions: readonly string[];
}

/** Longer than any start of a cluster takes: an installation that outlives the start serves the next one. */
const TIMEOUT_MS = 30 * 60_000;
/** Time that a call waits for an installation, milliseconds. */
const WAIT_MS = 2_000;
const RETRY_AFTER_MS = 3_000;
const MAX_OUTPUT = 64 * 1024;

/** The Sparks of a machine. Those that are not installed yet are installed when the first node needs them, in the background. */
export class LocalSparks {
  private readonly added = new Map<string, Promise<InstalledSpark>>();

  /** @param installer null if only the installed Sparks can be used */
  constructor(
    private readonly installed: Readonly<Record<string, InstalledSpark>>,
    private readonly installer: SparkInstallerOptions | null,
  ) {}

  /**
   * Returns a Spark. Throws a transient error with a pause while it is being installed, and an `invalid` one if there is none or
   * its installation failed; the next call then installs it again.
   */
  async get(version: string): Promise<InstalledSpark> {
    const installed = this.installed[version];
    if (installed !== undefined) return installed;
    const { installer } = this;
    if (!installer?.versions.includes(version)) {
      const available = [...Object.keys(this.installed), ...(installer?.versions ?? [])].join(', ') || 'none';
      throw new ComputeDriverError(
        'LOCAL.SPARK_VERSION_UNAVAILABLE',
        `Spark ${version} is not installed for local nodes. Installed versions (COMPUTE_LOCAL_SPARK_HOMES): ${available}.`,
        { kind: 'invalid' },
      );
    }
    const waiting = new AbortController();
    const spark = this.added.get(version) ?? this.begin(version, installer);
    try {
      const found = await Promise.race([spark, pause(WAIT_MS, waiting.signal)]);
      if (found) return found;
    } finally {
      waiting.abort();
    }
    throw new ComputeDriverError(
      'LOCAL.SPARK_INSTALLING',
      `Spark ${version} is being installed for local nodes, which takes some minutes. The node is created afterwards.`,
      { kind: 'transient', retryAfterMs: RETRY_AFTER_MS },
    );
  }

  private begin(version: string, { program }: SparkInstallerOptions): Promise<InstalledSpark> {
    const spark = install(program, version);
    this.added.set(version, spark);
    spark.catch(() => this.added.delete(version));
    return spark;
  }
}

async function install(program: string, version: string): Promise<InstalledSpark> {
  // None of the worker's own variables: they contain its secrets.
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' };
  const child = spawn(program, [version], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS });
  const output = textOf(child, 'stdout');
  const problem = textOf(child, 'stderr');
  const code = await new Promise<number | string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (status, signal) => resolve(status ?? signal));
  });
  const spark = code === 0 ? sparkIn(output()) : null;
  if (spark) return spark;
  const last = problem().trimEnd().split('\n').at(-1) ?? '';
  const reason = last === '' ? `${program} ended with ${code ?? 'no status'}.` : last;
  throw new ComputeDriverError('LOCAL.SPARK_NOT_INSTALLED', `Spark ${version} could not be installed: ${reason}`, {
    kind: 'invalid',
  });
}

/** Collects the end of what a process prints. */
function textOf(child: ChildProcess, stream: 'stdout' | 'stderr'): () => string {
  let text = '';
  child[stream]?.setEncoding('utf8').on('data', (piece: string) => (text = (text + piece).slice(-MAX_OUTPUT)));
  return () => text;
}

/** Returns the Spark that the last line describes; null if it describes none. */
function sparkIn(output: string): InstalledSpark | null {
  try {
    const described = parseTrusted<Described>(output.trimEnd().split('\n').at(-1) ?? '');
    const { home, class_archive = null, connectors = null, scala_kernel = null, turbo = null } = described;
    const paths = [home, class_archive, connectors, scala_kernel, turbo].filter((path) => path !== null);
    if (!paths.every((path) => typeof path === 'string' && isAbsolute(path))) return null;
    return { home, classArchive: class_archive, connectors, scalaKernel: scala_kernel, turbo };
  } catch {
    return null;
  }
}
