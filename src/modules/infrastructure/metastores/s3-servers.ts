export interface S3Server {
  /** URL of an S3-compatible store; null for Amazon S3. */
  endpoint: string | null;
  region: string | null;
}

/** Finds the servers of the buckets of a catalog's tables. Throws a domain error if a server is ambiguous. */
export interface S3Servers {
  of(bucket: string): S3Server;
}

/** Properties of Hadoop's S3 client, which configure a server for all buckets or for one. */
export type HadoopProperties = ReadonlyMap<string, string>;

/** The default server, for buckets without a configured one. */
export const AMAZON: S3Server = { endpoint: null, region: null };

const BUCKET_PROPERTY = /^fs\.s3a\.bucket\.(.+)\.(?:endpoint|connection\.ssl\.enabled)$/;
const SERVER_PROPERTY = /^fs\.s3a\.(?:bucket\..+\.)?(?:endpoint|endpoint\.region|connection\.ssl\.enabled)$/;

/** Keeps only the properties that configure servers, without credentials. */
export function s3Properties(properties: HadoopProperties): HadoopProperties {
  return new Map([...properties].filter(([name]) => SERVER_PROPERTY.test(name)));
}

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

/** Returns the endpoints of all configured buckets, sorted for comparison. */
export function s3Endpoints(properties: HadoopProperties): (readonly [bucket: string | null, string | null])[] {
  const configured = [...properties.keys()].flatMap((name) => BUCKET_PROPERTY.exec(name)?.[1] ?? []);
  const buckets = [...new Set(configured)].sort();
  const endpoint = (bucket: string) => s3ServerOf(properties, bucket)?.endpoint ?? null;
  return [[null, endpoint('')], ...buckets.map((bucket) => [bucket, endpoint(bucket)] as const)];
}

/** Returns the URL of an endpoint, which Hadoop also accepts without a scheme; null for Amazon S3. */
function urlOf(endpoint: string, withTls: boolean): string | null {
  if (/(^|[./])amazonaws\.com(\.cn)?\/?$/.test(endpoint)) return null;
  if (/^https?:\/\//.test(endpoint)) return endpoint;
  return `${withTls ? 'https' : 'http'}://${endpoint}`;
}
