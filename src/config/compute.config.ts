import { X509Certificate } from 'node:crypto';
import { isAbsolute, normalize } from 'node:path';
import type { EnvReader } from './env-reader';

export interface LocalComputeConfig {
  dir: string;
  /** Spark version to its home directory. */
  sparkHomes: Record<string, string>;
  javaHome: string;
  python: string;
  /** Spark version to the archive of its classes; JVMs without one start slower. */
  classArchives: Record<string, string>;
  /** Spark version to the folder of its connectors to object stores; runs without them cannot have mounts. */
  connectors: Record<string, string>;
  /** Spark version to the folder of its kernel for Scala notebooks; they cannot be started without it. */
  scalaKernels: Record<string, string>;
  /** Spark version to its jar of DataFusion Comet; clusters with turbo do not start without it. */
  turboJars: Record<string, string>;
  /** Path of bubblewrap's `bwrap`; null for that of the system, `none` for no bubblewrap. */
  bubblewrap: string | null;
  /** User ids that jobs get where the worker runs as root; nothing else on the machine may use them. */
  firstUid: number;
  uids: number;
  /** Folders of the machine that jobs see besides their own. */
  sharedDirs: string[];
}

/** How far the certificates of OnPrem endpoints are trusted. */
export interface OnPremTrustConfig {
  /** PEM of authorities to trust besides the usual ones. */
  ca: string | null;
  /** `host` or `host:port`, in lower case, whose certificates are not verified. */
  unverifiedHosts: string[];
}

/** Where clouds answer, for those that do not answer where they usually do; null for the others. */
export interface CloudEndpointsConfig {
  ec2: string | null;
  google: string | null;
  azure: string | null;
  /** Where Azure's principals log in. */
  azureAuthority: string | null;
  oci: string | null;
}

export interface ComputeConfig {
  /** Nodes as process groups of the worker's machine; null unless enabled. */
  local: LocalComputeConfig | null;
  clouds: CloudEndpointsConfig;
  boot: BootConfig;
  onPremTrust: OnPremTrustConfig;
}

/** What machines of clouds are made nodes by; Node, Java and Python are needed, and Spark. */
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

/** A gzipped tar with one folder at its top. Its fields are safe in a shell's quotes. */
export interface RuntimeItem {
  name: (typeof RUNTIME_ITEM_NAMES)[number];
  version: string;
  /** Of the machines it is for, as machine types state it; null for any. */
  architecture: string | null;
  /** Of the nodes it is for; null for any. */
  sparkVersion: string | null;
  /** Below the mirror's URL. */
  path: string;
  sha256: string;
}

/** What machines of clouds boot by. */
export interface BootConfig {
  /** Base URL of the items, without a slash at its end; null where all machines boot from prepared images. */
  mirror: string | null;
  items: RuntimeItem[];
  /** PEM of authorities that nodes trust besides the usual ones. */
  ca: string | null;
}

/** Where nodes reach the API, and how long each side goes on without the other. */
export interface AgentConfig {
  apiUrl: string;
  /** Whether only this machine can reach that. */
  apiIsLocal: boolean;
  leaseMs: number;
  /** Added to the lease before the platform calls a silent node lost, milliseconds. */
  leaseMarginMs: number;
  /** Between the polite and the forced end of a run, milliseconds. */
  killGraceMs: number;
  /** A node's bootstrap script has so long, milliseconds. */
  bootstrapTimeoutMs: number;
  /** A job that serves SQL ends when nobody has called it for so long, minutes. */
  sqlIdleMinutes: number;
  /** Where nodes resolve packages: Maven Central or a mirror of it, with a slash at its end. */
  mavenRepositoryUrl: string;
}

const WEB = ['https:', 'http:'];

export function readComputeConfig(env: EnvReader): ComputeConfig {
  return {
    local: readLocalComputeConfig(env),
    clouds: readCloudEndpointsConfig(env),
    boot: readBootConfig(env),
    onPremTrust: readOnPremTrustConfig(env),
  };
}

function readCloudEndpointsConfig(env: EnvReader): CloudEndpointsConfig {
  return {
    ec2: env.optionalUrl('COMPUTE_EC2_ENDPOINT', WEB),
    google: env.optionalUrl('COMPUTE_GOOGLE_ENDPOINT', WEB),
    azure: env.optionalUrl('COMPUTE_AZURE_ENDPOINT', WEB),
    azureAuthority: env.optionalUrl('COMPUTE_AZURE_AUTHORITY', WEB),
    oci: env.optionalUrl('COMPUTE_OCI_ENDPOINT', WEB),
  };
}

function readBootConfig(env: EnvReader): BootConfig {
  const mirror = env.optionalUrl('RUNTIME_MIRROR', WEB);
  const manifest = env.file('RUNTIME_MANIFEST');
  const items = manifest === null ? [] : runtimeItemsIn(manifest);
  if (items === null)
    env.problem('RUNTIME_MANIFEST', 'names a file that is no list of items with name, version, path and sha256');
  if (manifest !== null && mirror === null) env.problem('RUNTIME_MIRROR', 'is required with RUNTIME_MANIFEST');
  if (mirror !== null && !isPlainUrl(mirror))
    env.problem('RUNTIME_MIRROR', 'must have no user, query, fragment, quote or blank');
  const ca = env.file('NODE_CA_FILE');
  if (ca !== null && !isPemOfCertificates(ca))
    env.problem('NODE_CA_FILE', 'names a file that does not hold PEM certificates');
  return { mirror: mirror?.replace(/\/+$/, '') ?? null, items: items ?? [], ca };
}

/** Every machine can read it, so it holds no password; a shell reads it, too. */
function isPlainUrl(text: string): boolean {
  return /^https?:\/\/[\w.:[\]-]+(\/[\w.,~%+=/-]*)?$/.test(text);
}

/** The items of a manifest; null if it is none. */
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

function readLocalComputeConfig(env: EnvReader): LocalComputeConfig | null {
  if (!env.boolean('COMPUTE_LOCAL_ENABLED', false)) return null;
  const sparkHomes = env.absolutePaths('COMPUTE_LOCAL_SPARK_HOMES', 'version=directory');
  if (Object.keys(sparkHomes).length === 0) env.problem('COMPUTE_LOCAL_SPARK_HOMES', 'must name at least one Spark');
  return {
    dir: env.absolutePath('COMPUTE_LOCAL_DIR'),
    sparkHomes,
    javaHome: env.absolutePath('COMPUTE_LOCAL_JAVA_HOME'),
    python: env.absolutePath('COMPUTE_LOCAL_PYTHON'),
    classArchives: env.absolutePaths('COMPUTE_LOCAL_CLASS_ARCHIVES', 'version=file'),
    connectors: env.absolutePaths('COMPUTE_LOCAL_CONNECTORS', 'version=directory'),
    scalaKernels: env.absolutePaths('COMPUTE_LOCAL_SCALA_KERNELS', 'version=directory'),
    turboJars: env.absolutePaths('COMPUTE_LOCAL_TURBO', 'version=file'),
    bubblewrap: env.optional('COMPUTE_LOCAL_BUBBLEWRAP') ?? null,
    ...readUids(env),
    sharedDirs: readSharedDirs(env),
  };
}

/** Above those of systemd's containers, below the largest that programs take. */
const UIDS = '1900000000-1900065535';
const MAX_UID = 2 ** 31 - 2;

function readUids(env: EnvReader): { firstUid: number; uids: number } {
  const [, first, last] = /^(\d{1,10})-(\d{1,10})$/.exec(env.string('COMPUTE_LOCAL_UIDS', { default: UIDS })) ?? [];
  const [firstUid, lastUid] = [Number(first ?? 0), Number(last ?? 0)];
  if (firstUid < 1 || lastUid > MAX_UID || lastUid - firstUid < 127)
    env.problem('COMPUTE_LOCAL_UIDS', 'must be first-last, at least 128 ids, none of them 0');
  return { firstUid, uids: lastUid - firstUid + 1 };
}

function readSharedDirs(env: EnvReader): string[] {
  const dirs = env.list('COMPUTE_LOCAL_SHARED_DIRS');
  if (!dirs.every((dir) => isAbsolute(dir) && normalize(dir) !== '/'))
    env.problem('COMPUTE_LOCAL_SHARED_DIRS', 'must be a list of absolute folders other than the root');
  return dirs;
}

function readOnPremTrustConfig(env: EnvReader): OnPremTrustConfig {
  const ca = env.file('ONPREM_CA_FILE');
  if (ca !== null && !isPemOfCertificates(ca))
    env.problem('ONPREM_CA_FILE', 'names a file that does not hold PEM certificates');
  const unverifiedHosts = env.list('ONPREM_TLS_UNVERIFIED').map((host) => host.toLowerCase());
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

/** `pve.example.org`, `10.0.0.5:8006`, `[fd00::5]:8006`. */
function isHost(text: string): boolean {
  return /^[^\s/?#@\\*]+$/.test(text) && URL.canParse(`https://${text}`);
}

export function readAgentConfig(env: EnvReader): AgentConfig {
  const apiUrl = env.url('AGENT_API_URL', ['http:', 'https:'], 'http://127.0.0.1:8080');
  return {
    apiUrl,
    apiIsLocal: env.isLoopback(apiUrl),
    leaseMs: env.integer('AGENT_LEASE_MS', { default: 180_000, min: 2000 }),
    leaseMarginMs: env.integer('AGENT_LEASE_MARGIN_MS', { default: 15_000, min: 500 }),
    killGraceMs: env.integer('RUN_KILL_GRACE_MS', { default: 10_000, min: 100 }),
    // Within the time that the start of a cluster has.
    bootstrapTimeoutMs: env.integer('BOOTSTRAP_TIMEOUT_MS', { default: 600_000, min: 1000, max: 840_000 }),
    sqlIdleMinutes: env.integer('SQL_IDLE_MINUTES', { default: 60, min: 1, max: 10_080 }),
    mavenRepositoryUrl: readMavenRepository(env),
  };
}

/** Jobs see it, so it holds no password; spark-submit takes several with commas between them. */
function readMavenRepository(env: EnvReader): string {
  const text = env.url('MAVEN_REPOSITORY_URL', ['http:', 'https:'], 'https://repo1.maven.org/maven2/');
  if (/[\s,\\@?#]/.test(text))
    env.problem('MAVEN_REPOSITORY_URL', 'must have no user, query, fragment, comma or blank');
  return (URL.parse(text)?.href ?? '').replace(/\/?$/, '/');
}
