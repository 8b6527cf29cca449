/** The server that has a bucket. */
export interface S3Server {
  /** URL of an S3-compatible store, null for Amazon's. */
  endpoint: string | null;
  /** Null if it is unknown. */
  region: string | null;
}

/** The servers that have the buckets of a catalog's tables. Throws a domain error if that is ambiguous. */
export interface S3Servers {
  of(bucket: string): S3Server;
}

/** Properties of Hadoop's S3 client, which name a server for all buckets or for one. */
export type HadoopProperties = ReadonlyMap<string, string>;

/** The server of buckets for which no property names one. */
export const AMAZON: S3Server = { endpoint: null, region: null };

const OF_BUCKET = /^fs\.s3a\.bucket\.(.+)\.(?:endpoint|connection\.ssl\.enabled)$/;
const OF_SERVER = /^fs\.s3a\.(?:bucket\..+\.)?(?:endpoint|endpoint\.region|connection\.ssl\.enabled)$/;

/** Only the properties that say where buckets are, without credentials. */
export function s3Properties(properties: HadoopProperties): HadoopProperties {
  return new Map([...properties].filter(([name]) => OF_SERVER.test(name)));
}

/** The server that the properties name for a bucket; null if they name none. */
export function s3ServerOf(properties: HadoopProperties, bucket: string): S3Server | null {
  const setting = (option: string) =>
    properties.get(`fs.s3a.bucket.${bucket}.${option}`) ?? properties.get(`fs.s3a.${option}`) ?? null;
  const [endpoint, region] = [setting('endpoint'), setting('endpoint.region')];
  if (endpoint === null && region === null) return null;
  return {
    endpoint: endpoint === null ? null : urlOf(endpoint, setting('connection.ssl.enabled') !== 'false'),
    region,
  };
}

/** The endpoints of all buckets that the properties name, in a form that can be compared. */
export function s3Endpoints(properties: HadoopProperties): (readonly [bucket: string | null, string | null])[] {
  const named = [...properties.keys()].flatMap((name) => OF_BUCKET.exec(name)?.[1] ?? []);
  const buckets = [...new Set(named)].sort();
  const endpoint = (bucket: string) => s3ServerOf(properties, bucket)?.endpoint ?? null;
  return [[null, endpoint('')], ...buckets.map((bucket) => [bucket, endpoint(bucket)] as const)];
}

/** The URL of an endpoint, which Hadoop also accepts without a scheme; null for Amazon's own. */
function urlOf(endpoint: string, withTls: boolean): string | null {
  if (/(^|[./])amazonaws\.com(\.cn)?\/?$/.test(endpoint)) return null;
  if (/^https?:\/\//.test(endpoint)) return endpoint;
  return `${withTls ? 'https' : 'http'}://${endpoint}`;
}
