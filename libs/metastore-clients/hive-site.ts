import { ConfigurationFileError, type HostPort, parseHostPort } from './configuration-file';
import { parseSiteXml, quoted } from './site-xml';

/** The texts of the configuration files for clients of a Hive metastore. */
export interface HiveSiteFiles {
  hiveSiteXml: string;
  coreSiteXml?: string | null;
  hdfsSiteXml?: string | null;
}

/** The login of clients at the metastore's servers. */
export type HiveSiteLogin =
  /** No login. If `tellsUser`, clients send a user name, which the servers trust. */
  | { kind: 'none'; tellsUser: boolean }
  /** User name and password, in Hive 3 and later. */
  | { kind: 'plain' }
  /** `service` is the servers' own principal, `hive/_HOST@REALM`. */
  | { kind: 'kerberos'; service: string };

/** The part of a Hive metastore's configuration that the platform and its jobs use. */
export interface HiveSite {
  /** The metastore's servers, at least one, in the order of the file. */
  uris: HostPort[];
  login: HiveSiteLogin;
  /** The properties that jobs get, by their Hadoop names; each is one line without control characters. */
  properties: ReadonlyMap<string, string>;
}

const HIVE_SITE = 'hive-site.xml';
const CORE_SITE = 'core-site.xml';
const HDFS_SITE = 'hdfs-site.xml';

const URIS = 'hive.metastore.uris';
const SASL = 'hive.metastore.sasl.enabled';
const PRINCIPAL = 'hive.metastore.kerberos.principal';
/** Two names of the same setting; the first is Hive 3's own. */
const AUTH_MODES = ['metastore.client.auth.mode', 'hive.metastore.client.auth.mode'] as const;
const SET_UGI = 'hive.metastore.execute.setugi';
const MAX_URIS = 10;

const BOOLEAN = /^(true|false)$/;
const NUMBER = /^\d{1,9}$/;
const TIME = /^\d{1,9}\s?(d|h|m|s|ms|us|ns|sec|msec|min|hour|day)?s?$/;
const WORD = /^[A-Za-z0-9_.-]{1,200}$/;
const WORDS = /^[A-Za-z0-9_.-]{1,200}(\s*,\s*[A-Za-z0-9_.-]{1,200}){0,30}$/;
const LINE = /^[^\p{Cc}]{1,4096}$/u;
const ENDPOINT = /^(https?:\/\/)?[A-Za-z0-9._:[\]-]{1,253}\/?$/;
const SERVER = /^[A-Za-z0-9._:[\]-]{1,253}$/;
const NAME_OF_SERVER = /^[A-Za-z0-9._*-]{1,100}(\/[A-Za-z0-9._*-]{1,253})?@[A-Za-z0-9._*-]{1,253}$/;
/** Directories of object stores and HDFS, and absolute paths on the nodes of jobs. */
const DIRECTORY = /^((s3a?|gs|abfss?|wasbs?|hdfs|viewfs):\/\/[^\s\p{Cc}?#]{1,2000}|\/[^\s\p{Cc}:?#]{0,2000})$/u;
const FAILOVER = new RegExp(
  `^${String.raw`org\.apache\.hadoop\.hdfs\.server\.namenode\.ha\.`}(ConfiguredFailover|RequestHedging|ObserverRead)ProxyProvider$`,
);

type Rule = readonly [key: RegExp, value: RegExp, meaning: string];

/** Keys of the S3A client that apply to all buckets or to one. */
const S3A: readonly Rule[] = [
  [/^endpoint$/, ENDPOINT, 'a host or an http URL'],
  [/^endpoint\.region$/, WORD, 'a word'],
  [/^(path\.style\.access|connection\.ssl\.enabled)$/, BOOLEAN, 'true or false'],
  [/^(access\.key|secret\.key|session\.token)$/, LINE, 'one line'],
];
/** Keys of the HDFS client, for a name service and its name nodes. */
const HDFS: readonly Rule[] = [
  [/^dfs\.(internal\.)?nameservices$/, WORDS, 'names'],
  [/^dfs\.ha\.namenodes\.[\w-]+$/, WORDS, 'names'],
  [/^dfs\.namenode\.(rpc|http|https)-address(\.[\w-]+){0,2}$/, SERVER, 'host:port'],
  [/^dfs\.client\.failover\.proxy\.provider\.[\w-]+$/, FAILOVER, "one of Hadoop's own providers"],
  [/^dfs\.client\.use\.(datanode\.hostname|legacy\.blockreader)$/, BOOLEAN, 'true or false'],
  [/^dfs\.namenode\.kerberos\.principal(\.pattern)?$/, NAME_OF_SERVER, 'a principal'],
  [/^dfs\.(data\.transfer\.protection|encrypt\.data\.transfer)$/, WORDS, 'words'],
  [/^(dfs\.replication|dfs\.blocksize)$/, /^\d{1,9}[kmg]?$/i, 'a number'],
];

/** The properties that jobs get, and the form of their values. All others are stored with the catalog and never used. */
const USED: Readonly<Record<string, readonly Rule[]>> = {
  [HIVE_SITE]: [
    [/^hive\.metastore\.uris$/, LINE, 'one line'],
    [/^hive\.metastore\.sasl\.enabled$/, BOOLEAN, 'true or false'],
    [/^hive\.metastore\.kerberos\.principal$/, NAME_OF_SERVER, 'a principal, such as hive/_HOST@EXAMPLE.ORG'],
    [/^(hive\.)?metastore\.client\.auth\.mode$/, /^(NOSASL|PLAIN|KERBEROS)$/i, 'NOSASL, PLAIN or KERBEROS'],
    [/^hive\.metastore\.warehouse\.dir$/, DIRECTORY, 'a directory of an object store or HDFS, or an absolute path'],
    [/^hive\.metastore\.(connect|failure)\.retries$/, NUMBER, 'a number'],
    [/^hive\.metastore\.client\.(connect\.retry\.delay|socket\.timeout|socket\.lifetime)$/, TIME, 'a time'],
    [/^hive\.metastore\.(execute\.setugi|try\.direct\.sql|schema\.verification)$/, BOOLEAN, 'true or false'],
    [/^hive\.metastore\.thrift\.(framed\.transport|compact\.protocol)\.enabled$/, /^false$/, 'false'],
    [/^hive\.metastore\.use\.SSL$/, /^false$/, 'false: this release calls metastores without TLS'],
    [/^hive\.exec\.dynamic\.partition(\.mode)?$/, WORD, 'a word'],
  ],
  [CORE_SITE]: [
    [/^hadoop\.security\.authentication$/, /^(simple|kerberos)$/, 'simple or kerberos'],
    [/^hadoop\.rpc\.protection$/, WORDS, 'words'],
    ...S3A.map(([key, ...rule]): Rule => [within(key, String.raw`fs\.s3a\.(bucket\.[a-z0-9.-]{3,63}\.)?`), ...rule]),
    [/^fs\.azure\.account\.key\.[a-z0-9]{3,24}\.(dfs|blob)\.[a-z0-9.-]+$/, LINE, 'one line'],
  ],
  [HDFS_SITE]: HDFS,
};

/** Keys that make a reader of the file load code or local files, and the reason to show. */
const REFUSED: readonly (readonly [key: RegExp, reason: string])[] = [
  [/credential[.-]?provider|key\.provider/i, 'it names a store of keys'],
  [/keytab|keystore|truststore|(^|[.-])jks$/i, 'it names a file of the machine; keys belong in a secret'],
  [/hooks?($|\.)|listeners?$|plugins?($|\.)|interceptor/i, 'it names code to load'],
  [/(^|\.)(class|classes|impl|codecs?|serializations|factory)($|\.)/i, 'it names code to load'],
  [/^fs\.s3a\..*credentials\.provider$|group\.mapping|authorization\.manager$/i, 'it names code to load'],
  [/(aux|reloadable).*(jars?|path)|\.jars?(\.|$)/i, 'it names code to load'],
];
const LOCAL = /(^|[\s,;])(file|jar|jceks|localjceks|user|local):/i;

/**
 * Reads the configuration files for clients of a Hive metastore. Throws {@link ConfigurationFileError} if a file is not
 * well-formed, contains a variable (Hadoop would replace it from the environment of the process that reads the file), names
 * code or local files, or has no usable `hive.metastore.uris`.
 */
export function parseHiveSite({ hiveSiteXml, coreSiteXml, hdfsSiteXml }: HiveSiteFiles): HiveSite {
  const hive = parseSiteXml(HIVE_SITE, hiveSiteXml);
  const properties = new Map([
    ...usedOf(CORE_SITE, parseOptional(CORE_SITE, coreSiteXml)),
    ...usedOf(HDFS_SITE, parseOptional(HDFS_SITE, hdfsSiteXml)),
    ...usedOf(HIVE_SITE, hive),
  ]);
  const uris = parseUris(properties.get(URIS));
  properties.set(URIS, uris.map(uriOf).join(','));
  return { uris, login: loginOf(properties), properties };
}

function loginOf(properties: ReadonlyMap<string, string>): HiveSiteLogin {
  const mode = AUTH_MODES.map((key) => properties.get(key)?.toUpperCase()).find((value) => value !== undefined);
  if (properties.get(SASL) === 'true' || mode === 'KERBEROS') {
    const service = properties.get(PRINCIPAL);
    if (service !== undefined) return { kind: 'kerberos', service };
    throw new ConfigurationFileError(HIVE_SITE, `clients log in by Kerberos, so ${PRINCIPAL} is required.`);
  }
  if (mode === 'PLAIN') return { kind: 'plain' };
  return { kind: 'none', tellsUser: properties.get(SET_UGI) !== 'false' };
}

function parseOptional(file: string, text: string | null | undefined): Map<string, string> {
  return text === null || text === undefined ? new Map<string, string>() : parseSiteXml(file, text);
}

/** Checks all properties of a file; returns those that are used. */
function usedOf(file: string, properties: ReadonlyMap<string, string>): [string, string][] {
  return [...properties].flatMap(([key, value]): [string, string][] => {
    assertPlain(file, key, value);
    const rule = USED[file]?.find(([pattern]) => pattern.test(key));
    if (!rule || value === '') return [];
    const [, pattern, meaning] = rule;
    if (!pattern.test(value)) throw new ConfigurationFileError(file, `the value of ${quoted(key)} must be ${meaning}.`);
    return [[key, value]];
  });
}

/** Throws for properties that no file may contain, even if the platform ignores them: other tools may use them. */
function assertPlain(file: string, key: string, value: string): void {
  if (key.includes('${') || value.includes('${')) {
    const variable = `${quoted(key)} has a variable ("\${…}"), which is not replaced.`;
    throw new ConfigurationFileError(file, `${variable} Send the value itself.`);
  }
  if (value === '' || USED[file]?.some(([pattern]) => pattern.test(key))) return;
  const refused = REFUSED.find(([pattern]) => pattern.test(key));
  if (refused) throw new ConfigurationFileError(file, `remove ${quoted(key)}: ${refused[1]}.`);
  if (LOCAL.test(value)) throw new ConfigurationFileError(file, `remove ${quoted(key)}: its value names a local file.`);
}

function parseUris(text: string | undefined): HostPort[] {
  const refuse = (reason: string): never => {
    throw new ConfigurationFileError(HIVE_SITE, reason);
  };
  if (text === undefined) return refuse(`${URIS} is required.`);
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length > MAX_URIS) return refuse(`${URIS} names more than ${MAX_URIS} servers.`);
  const found = parts.map((part) => {
    const server = part.startsWith('thrift://') ? parseHostPort(part.slice('thrift://'.length), null) : null;
    return server ?? refuse(`${URIS} must be thrift://host:port, or several of them separated by commas.`);
  });
  if (new Set(found.map(uriOf)).size < found.length) return refuse(`${URIS} names a server twice.`);
  return found;
}

function uriOf({ host, port }: HostPort): string {
  return `thrift://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function within(key: RegExp, prefix: string): RegExp {
  return new RegExp(`^${prefix}${key.source.slice(1)}`);
}
