import { X509Certificate } from 'node:crypto';
import { isAbsolute, normalize } from 'node:path';
import type { EnvReader } from './env-reader';

export type ComputeConfig = ReturnType<typeof readComputeConfig>;

/** Parts of the runtime that turn the machine of a cloud into a node; Node, Java, Python and Spark are indispensable. */
const RUNTIME_ITEM_NAMES = [
  'node',
  'java',
  'python',
  'spark',
  'class-archive',
  'connectors',
  'scala-kernel',
  'turbo',
  'rapids',
] as const;

/** A gzipped tar archive with a single top folder. Its fields are safe in a shell's quotes. */
export interface RuntimeItem {
  name: (typeof RUNTIME_ITEM_NAMES)[number];
  version: string;
  /** Architecture of the machines it is for, as machine types state it; null for any. */
  architecture: string | null;
  /** Spark version of the nodes it is for; null for any. */
  sparkVersion: string | null;
  /** Relative to the mirror's URL. */
  path: string;
  sha256: string;
}

/** Tells how machines of clouds get what a node needs. */
interface BootConfig {
  /** Base URL of the items, without a slash at its end; null if all machines boot from prepared images. */
  mirror: string | null;
  items: RuntimeItem[];
  /** PEM of authorities that nodes trust besides the usual ones. */
  ca: string | null;
}

export type AgentConfig = ReturnType<typeof readAgentConfig>;

/** Maximum number of drivers that wait on one node. */
export const MAX_WARM_DRIVERS = 16;

const WEB = ['https:', 'http:'];

export function readComputeConfig(reader: EnvReader) {
  return {
    /** Null unless this worker may run local nodes. */
    local: readLocalComputeConfig(reader),
    clouds: readCloudEndpointsConfig(reader),
    boot: readBootConfig(reader.section('Machines of clouds')),
    onPremTrust: readOnPremTrustConfig(reader),
  };
}

/** The URLs are null for clouds at their public addresses. */
function readCloudEndpointsConfig(reader: EnvReader) {
  const env = reader.section('Machines of clouds', 'See the [pages of the clouds](clouds/README.md).');
  const endpoint = (name: string, cloud: string, example: string) =>
    env.optionalUrl(name, WEB, {
      defaultText: 'its public address',
      example,
      readBy: ['API', 'worker'],
      description:
        `URL of the API of ${cloud}, for all environments of that provider: a private endpoint, or another cloud of the ` +
        'same kind.',
    });
  return {
    ec2: endpoint('COMPUTE_EC2_ENDPOINT', 'EC2', 'https://vpce-0123.ec2.eu-west-1.vpce.amazonaws.com'),
    google: endpoint('COMPUTE_GOOGLE_ENDPOINT', 'Compute Engine', 'https://compute.p.googleapis.com'),
    azure: endpoint('COMPUTE_AZURE_ENDPOINT', 'Azure Resource Manager', 'https://management.usgovcloudapi.net'),
    azureAuthority: env.optionalUrl('COMPUTE_AZURE_AUTHORITY', WEB, {
      defaultText: 'its public address',
      example: 'https://login.microsoftonline.us',
      readBy: ['API', 'worker'],
      description: 'URL at which the service principals of Azure log in.',
    }),
    oci: endpoint('COMPUTE_OCI_ENDPOINT', 'Oracle Cloud', 'https://iaas.eu-frankfurt-1.oraclecloud.eu'),
  };
}

function readBootConfig(env: EnvReader): BootConfig {
  const mirror = env.optionalUrl('RUNTIME_MIRROR', WEB, {
    requiredIf: '`RUNTIME_MANIFEST` is set',
    defaultText: 'machines boot from prepared images',
    example: 'https://mirror.example.org/platform',
    readBy: ['worker'],
    description: 'Base URL from which machines fetch Node, Java, Python and Spark; see [images](clouds/images.md).',
  });
  const manifest = env.file('RUNTIME_MANIFEST', {
    allowed: 'path of a JSON file',
    example: '/etc/platform/runtime.json',
    readBy: ['API', 'worker'],
    description: 'List of what the mirror has; [images](clouds/images.md) shows its form.',
  });
  const items = manifest === null ? [] : runtimeItemsIn(manifest);
  if (items === null)
    env.problem('RUNTIME_MANIFEST', 'names a file that is not a list of items with name, version, path and sha256');
  if (manifest !== null && mirror === null) env.problem('RUNTIME_MIRROR', 'is required with RUNTIME_MANIFEST');
  if (mirror !== null && !isPlainUrl(mirror))
    env.problem('RUNTIME_MIRROR', 'must have no user, query, fragment, quote or blank');
  const ca = env.file('NODE_CA_FILE', {
    allowed: 'path of a PEM file of about 5 kB at most',
    defaultText: 'only the usual authorities are trusted',
    example: '/etc/platform/ca.pem',
    readBy: ['worker'],
    description:
      'Certificate authorities that nodes of clouds trust besides the usual ones, for the API and for the mirror.',
  });
  if (ca !== null && !isPemOfCertificates(ca))
    env.problem('NODE_CA_FILE', 'names a file that does not hold PEM certificates');
  return { mirror: mirror?.replace(/\/+$/, '') ?? null, items: items ?? [], ca };
}

/** True for a URL without a password, because every machine can read it, and without what a shell would interpret. */
function isPlainUrl(text: string): boolean {
  return /^https?:\/\/[\w.:[\]-]+(\/[\w.,~%+=/-]*)?$/.test(text);
}

/** Returns the items of a manifest; null if the text is not a manifest. */
function runtimeItemsIn(text: string): RuntimeItem[] | null {
  try {
    const { items } = JSON.parse(text) as { items?: unknown };
    if (!Array.isArray(items)) return null;
    const read = items.map(runtimeItem);
    return read.every((item) => item !== null) ? read : null;
  } catch {
    return null;
  }
}

function runtimeItem(value: unknown): RuntimeItem | null {
  const item = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const texts = ['version', 'path', 'sha256'].map((key) => item[key]);
  const [version, path, sha256] = texts.map((text) => (typeof text === 'string' ? text : ''));
  const name = RUNTIME_ITEM_NAMES.find((one) => one === item['name']);
  const [architecture, sparkVersion] = [item['architecture'] ?? null, item['spark_version'] ?? null];
  const isWord = (word: unknown): word is string | null =>
    word === null || (typeof word === 'string' && /^[\w.+-]{1,64}$/.test(word));
  if (!name || !version || !path || !sha256 || !isWord(version) || !isWord(architecture) || !isWord(sparkVersion))
    return null;
  if (!/^[\w.+/-]{1,256}\.(tar\.gz|tgz)$/.test(path) || !/^[0-9a-f]{64}$/.test(sha256)) return null;
  return { name, version, architecture, sparkVersion, path: path.replace(/^\/+/, ''), sha256 };
}

/** Absolute paths of a Spark and of what belongs to it; null for what the machine lacks. */
interface SparkPaths {
  home: string;
  classArchive: string | null;
  connectors: string | null;
  scalaKernel: string | null;
  turbo: string | null;
}

function readLocalComputeConfig(reader: EnvReader) {
  const env = reader.section('Local nodes', 'Local nodes belong to cloud environments with the endpoint `local://`.');
  const isEnabled = env.boolean('COMPUTE_LOCAL_ENABLED', {
    default: false,
    readBy: ['API', 'worker'],
    description: 'Whether this worker may run Spark nodes as processes of its own machine.',
  });
  if (!isEnabled) return null;
  const requiredIf = '`COMPUTE_LOCAL_ENABLED` is `true`';
  const dir = env.absolutePath('COMPUTE_LOCAL_DIR', {
    requiredIf,
    example: '/var/lib/managed-spark/nodes',
    readBy: ['worker'],
    description: 'Directory with one directory for each node. One worker at a time uses it.',
  });
  const sparkHomes = env.absolutePaths('COMPUTE_LOCAL_SPARK_HOMES', 'version=directory', {
    requiredIf,
    example: '3.5.9=/opt/spark',
    readBy: ['worker'],
    description: 'Directory of each installed Spark version.',
  });
  if (Object.keys(sparkHomes).length === 0) env.problem('COMPUTE_LOCAL_SPARK_HOMES', 'must name at least one Spark');
  const classArchives = env.absolutePaths('COMPUTE_LOCAL_CLASS_ARCHIVES', 'version=file', {
    example: '3.5.9=/opt/spark.jsa',
    readBy: ['worker'],
    description:
      "Archive of Spark's classes for each version (`scripts/class-archive`), with which the JVMs of Spark start in about " +
      'half the time ([ADR 0007](adr/0007-jvms-start-from-a-class-archive.md)).',
  });
  const connectors = env.absolutePaths('COMPUTE_LOCAL_CONNECTORS', 'version=directory', {
    example: '3.5.9=/opt/connectors',
    readBy: ['worker'],
    description:
      'Directory of the jars with which each Spark version reaches object stores (`scripts/connectors`). Without them jobs ' +
      'cannot have mounts ([ADR 0008](adr/0008-mounts-are-a-default-file-system.md)).',
  });
  const scalaKernels = env.absolutePaths('COMPUTE_LOCAL_SCALA_KERNELS', 'version=directory', {
    example: '3.5.9=/opt/scala-kernel',
    readBy: ['worker'],
    description:
      'Directory of the kernel of Scala notebooks for each Spark version (`scripts/scala-kernel`). Without it they cannot ' +
      'start ([ADR 0081](adr/0081-scala-notebooks-use-the-interpreter-of-spark.md)).',
  });
  const turboJars = env.absolutePaths('COMPUTE_LOCAL_TURBO', 'version=file', {
    example: '3.5.9=/opt/turbo.jar',
    readBy: ['worker'],
    description:
      'Jar of DataFusion Comet for each Spark version (`scripts/turbo`). Without it clusters with turbo do not start ' +
      '([ADR 0044](adr/0044-query-accelerators-are-jars-on-the-node.md)).',
  });
  const ofVersion = ([version, home]: [string, string]) => [
    version,
    {
      home,
      classArchive: classArchives[version] ?? null,
      connectors: connectors[version] ?? null,
      scalaKernel: scalaKernels[version] ?? null,
      turbo: turboJars[version] ?? null,
    },
  ];
  return {
    dir,
    sparks: Object.fromEntries(Object.entries(sparkHomes).map(ofVersion)) as Record<string, SparkPaths>,
    sparkInstaller: readSparkInstaller(env),
    javaHome: env.absolutePath('COMPUTE_LOCAL_JAVA_HOME', {
      requiredIf,
      example: '/usr/lib/jvm/java-17',
      readBy: ['worker'],
      description: 'Home directory of the Java that Spark runs on.',
    }),
    python: env.absolutePath('COMPUTE_LOCAL_PYTHON', {
      requiredIf,
      example: '/usr/bin/python3',
      readBy: ['worker'],
      description: 'Python that PySpark jobs run on.',
    }),
    bubblewrap: env.optional('COMPUTE_LOCAL_BUBBLEWRAP', {
      allowed: 'path of a program, or `none`',
      defaultText: "the system's `bwrap`",
      example: '/usr/bin/bwrap',
      readBy: ['worker'],
      description:
        'The bubblewrap program, which gives jobs their own view of the machine ' +
        '([ADR 0012](adr/0012-each-run-is-confined.md)). `none` runs jobs without it.',
    }),
    ...readUids(env),
    sharedDirs: readSharedDirs(env),
  };
}

function readSparkInstaller(env: EnvReader): { program: string; versions: string[] } | null {
  const versions = env.list('COMPUTE_LOCAL_SPARK_INSTALLABLE', {
    allowed: 'comma-separated list of Spark versions',
    example: '4.3.0',
    readBy: ['worker'],
    description:
      'Spark versions that clusters may use although they are not installed yet: the first cluster with such a version has it ' +
      'installed by `COMPUTE_LOCAL_SPARK_INSTALLER`.',
  });
  const program = env.optional('COMPUTE_LOCAL_SPARK_INSTALLER', {
    allowed: 'absolute path',
    defaultText: 'only installed versions are offered',
    example: '/opt/install-spark',
    readBy: ['worker'],
    description:
      'Program that installs a Spark version, its only argument, and prints what it installed; see ' +
      '[Spark versions](operations/spark-versions.md).',
  });
  if (versions.length === 0) return null;
  if (program === null || !isAbsolute(program))
    env.problem('COMPUTE_LOCAL_SPARK_INSTALLER', 'must be an absolute path, with COMPUTE_LOCAL_SPARK_INSTALLABLE');
  return { program: program ?? '', versions };
}

/** Above those of systemd's containers, below the largest that programs take. */
const UIDS = '1900000000-1900065535';
const MAX_UID = 2 ** 31 - 2;

function readUids(env: EnvReader): { firstUid: number; uids: number } {
  const text = env.string('COMPUTE_LOCAL_UIDS', {
    default: UIDS,
    allowed: '`first-last`, at least 128 ids, without 0',
    readBy: ['worker'],
    description:
      'User ids of jobs if the worker runs as root: 128 for each local node of the machine, whichever installation it ' +
      'belongs to. Nothing else on the machine may use them.',
  });
  const [, first, last] = /^(\d{1,10})-(\d{1,10})$/.exec(text) ?? [];
  const [firstUid, lastUid] = [Number(first ?? 0), Number(last ?? 0)];
  if (firstUid < 1 || lastUid > MAX_UID || lastUid - firstUid < 127)
    env.problem('COMPUTE_LOCAL_UIDS', 'must be first-last, at least 128 ids, none of them 0');
  return { firstUid, uids: lastUid - firstUid + 1 };
}

function readSharedDirs(env: EnvReader): string[] {
  const dirs = env.list('COMPUTE_LOCAL_SHARED_DIRS', {
    allowed: 'comma-separated list of absolute paths',
    readBy: ['worker'],
    description:
      "Directories of the machine that jobs see besides their own. Jobs may write to them if the job's user may.",
  });
  if (!dirs.every((dir) => isAbsolute(dir) && normalize(dir) !== '/'))
    env.problem('COMPUTE_LOCAL_SHARED_DIRS', 'must be a list of absolute folders other than the root');
  return dirs;
}

function readOnPremTrustConfig(reader: EnvReader) {
  const env = reader.section('OnPrem environments (Proxmox VE)');
  const ca = env.file('ONPREM_CA_FILE', {
    allowed: 'path of a PEM file',
    defaultText: 'only the usual authorities are trusted',
    readBy: ['API', 'worker'],
    description:
      "Certificate authorities that are trusted besides the usual ones, such as Proxmox VE's own " +
      '(`/etc/pve/pve-root-ca.pem`).',
  });
  if (ca !== null && !isPemOfCertificates(ca))
    env.problem('ONPREM_CA_FILE', 'names a file that does not hold PEM certificates');
  const hosts = env.list('ONPREM_TLS_UNVERIFIED', {
    allowed: 'comma-separated list of `host` or `host:port`',
    example: '10.0.0.5:8006',
    readBy: ['API', 'worker'],
    description:
      'Hosts whose certificates are not verified. Passwords then go to whatever server answers there, so prefer ' +
      '`ONPREM_CA_FILE`.',
  });
  const unverifiedHosts = hosts.map((host) => host.toLowerCase());
  if (!unverifiedHosts.every(isHost)) env.problem('ONPREM_TLS_UNVERIFIED', 'must be a list of host or host:port');
  return { ca, unverifiedHosts };
}

function isPemOfCertificates(text: string): boolean {
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    return certificates.map((pem) => new X509Certificate(pem)).length > 0;
  } catch {
    return false;
  }
}

/** Accepts `pve.example.org`, `10.0.0.5:8006`, `[fd00::5]:8006`. */
function isHost(text: string): boolean {
  return /^[^\s/?#@\\*]+$/.test(text) && URL.canParse(`https://${text}`);
}

export function readAgentConfig(reader: EnvReader) {
  const env = reader.section('Node agents');
  const apiUrl = env.url('AGENT_API_URL', ['http:', 'https:'], {
    default: 'http://127.0.0.1:8080',
    readBy: ['worker', 'agent'],
    description:
      'URL at which nodes reach an API process that serves agents. A local node receives it at each start, other nodes ' +
      'when they are created.',
  });
  return {
    apiUrl,
    /** True if only this machine can reach that URL. */
    apiIsLocal: env.isLoopback(apiUrl),
    leaseMs: env.integer('AGENT_LEASE_MS', {
      default: 180_000,
      min: 2000,
      unit: 'milliseconds',
      readBy: ['API', 'worker', 'agent'],
      description: 'Time after which a node that has not reached the API ends its runs.',
    }),
    leaseMarginMs: env.integer('AGENT_LEASE_MARGIN_MS', {
      default: 15_000,
      min: 500,
      unit: 'milliseconds',
      readBy: ['worker'],
      description:
        'Time that is added to `AGENT_LEASE_MS` before the platform declares a silent node lost. Only time in which the ' +
        'platform answered agents counts as silence.',
    }),
    killGraceMs: env.integer('RUN_KILL_GRACE_MS', {
      default: 10_000,
      min: 100,
      unit: 'milliseconds',
      readBy: ['agent'],
      description: 'Time between the signal that asks a run to end and the one that kills it.',
    }),
    bootstrapTimeoutMs: env.integer('BOOTSTRAP_TIMEOUT_MS', {
      default: 600_000,
      min: 1000,
      // It must fit into the time that the start of a cluster has.
      max: 840_000,
      unit: 'milliseconds',
      readBy: ['agent'],
      description: 'Longest time that the bootstrap script of a node may take.',
    }),
    sqlIdleMinutes: env.integer('SQL_IDLE_MINUTES', {
      default: 60,
      min: 1,
      max: 10_080,
      unit: 'minutes',
      readBy: ['agent'],
      description: 'Time after which a job that serves SQL ends because nobody has called it.',
    }),
    warmDrivers: readWarmDriversConfig(env),
    mavenRepositoryUrl: readMavenRepository(env),
  };
}

function readWarmDriversConfig(env: EnvReader): { maxPerNode: number; maxCpuPressure: number } {
  return {
    maxPerNode: env.integer('COMPUTE_WARM_DRIVERS', {
      default: 1,
      min: 0,
      max: MAX_WARM_DRIVERS,
      readBy: ['agent'],
      description:
        'Number of [warm drivers](operations/warm-drivers.md) that wait for jobs on each node, at most one for each parallel job of ' +
        'the cluster. 0 means none.',
    }),
    maxCpuPressure: env.integer('COMPUTE_WARM_DRIVERS_MAX_CPU_PRESSURE', {
      default: 20,
      min: 0,
      max: 100,
      readBy: ['agent'],
      description:
        'Warm drivers start only while something waits for the processor for at most this percentage of the time. 100 means ' +
        'always. While all slots of the node are taken, values above 20 count as 20.',
    }),
  };
}

/** Jobs see the URL, so it holds no password. A comma would make spark-submit read it as several. */
function readMavenRepository(env: EnvReader): string {
  const text = env.url('MAVEN_REPOSITORY_URL', ['http:', 'https:'], {
    default: 'https://repo1.maven.org/maven2/',
    readBy: ['API', 'agent'],
    description:
      'Maven Central or a mirror of it, from which nodes fetch the packages of jobs. The URL has no user and no password.',
  });
  if (/[\s,\\@?#]/.test(text))
    env.problem('MAVEN_REPOSITORY_URL', 'must have no user, query, fragment, comma or blank');
  return (URL.parse(text)?.href ?? '').replace(/\/?$/, '/');
}
