import { readFileSync } from 'node:fs';
import { OutboundPolicy } from '../../../libs/outbound-policy/outbound-policy';

/** The servers of scripts/embedded/store-servers.mjs. */
interface StoreServers {
  moto: S3Server;
  /** Checks signatures for every service; `user` owns the keys. */
  aws: S3Server & { user: string };
  /** Checks signatures, whether it is MinIO or moto. */
  s3: S3Server & { name: string };
  /** The server for Spark; checks signatures only if it is MinIO. */
  hadoop: S3Server;
  fakeGcs: { url: string };
  azurite: { url: string; accountName: string; accountKey: string };
}

export interface S3Server {
  url: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Returns the servers that were started for this run. */
export function storeServers(): StoreServers {
  const file = process.env.TEST_STORE_SERVERS;
  if (!file) throw new Error('TEST_STORE_SERVERS is not set: jest.config.cjs prepares it');
  return JSON.parse(readFileSync(file, 'utf8')) as StoreServers;
}

/** The policy of the quickstart, which allows servers on this machine. */
export const outbound = new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: ['loopback'] });

let count = 0;

/** Returns a bucket name that no other test uses. */
export function newBucketName(): string {
  count += 1;
  return `contract-${process.pid}-${Date.now()}-${count}`;
}
