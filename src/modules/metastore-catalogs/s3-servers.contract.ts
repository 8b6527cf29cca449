/** Which server has a bucket. */
export interface S3Server {
  /** URL of an S3-compatible store, null for Amazon's. */
  endpoint: string | null;
  /** As far as it is known. */
  region: string | null;
}

/** Which servers have the buckets of a catalog's tables. Throws a domain error where that is not clear. */
export interface S3Servers {
  of(bucket: string): S3Server;
}

/** Properties of Hadoop's S3 client, which names a server for all buckets or for one. */
export type HadoopProperties = ReadonlyMap<string, string>;

/** Where nothing is said of them. */
export const AMAZON: S3Server = { endpoint: null, region: null };

const OF_BUCKET = /^fs\.s3a\.bucket\.(.+)\.endpoint$/;
const OF_SERVER = /^fs\.s3a\.(?:bucket\..+\.)?(?:endpoint|endpoint\.region|connection\.ssl\.enabled)$/;

/** Those that say where buckets are: no credentials. */
export function s3Properties(properties: HadoopProperties): HadoopProperties {
  return new Map([...properties].filter(([name]) => OF_SERVER.test(name)));
}

/** The server that the properties name for a bucket, null where they name none. */
export function s3ServerOf(properties: HadoopProperties, bucket: string): S3Server | null {
  const said = (option: string) =>
    properties.get(`fs.s3a.bucket.${bucket}.${option}`) ?? properties.get(`fs.s3a.${option}`) ?? null;
  const [endpoint, region] = [said('endpoint'), said('endpoint.region')];
  if (endpoint === null && region === null) return null;
  return { endpoint: endpoint === null ? null : urlOf(endpoint, said('connection.ssl.enabled') !== 'false'), region };
}

/** All servers that the properties name, by bucket: equal for two that lead to the same ones. */
export function s3Endpoints(properties: HadoopProperties): (readonly [bucket: string | null, string | null])[] {
  const buckets = [...properties.keys()].flatMap((name) => OF_BUCKET.exec(name)?.[1] ?? []).sort();
  const endpoint = (bucket: string) => s3ServerOf(properties, bucket)?.endpoint ?? null;
  return [[null, endpoint('')], ...buckets.map((bucket) => [bucket, endpoint(bucket)] as const)];
}

/** Hadoop takes a host without a scheme, too, and for Amazon's own stores there is nothing to say. */
function urlOf(endpoint: string, withTls: boolean): string | null {
  if (/(^|[./])amazonaws\.com(\.cn)?\/?$/.test(endpoint)) return null;
  if (/^https?:\/\//.test(endpoint)) return endpoint;
  return `${withTls ? 'https' : 'http'}://${endpoint}`;
}
