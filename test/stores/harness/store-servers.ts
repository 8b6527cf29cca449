import { readFileSync } from 'node:fs';
import { OutboundPolicy } from '../../../libs/outbound-policy/outbound-policy';

/** As scripts/embedded/store-servers.mjs starts them. */
interface StoreServers {
  moto: S3Server;
  /** Checks signatures, of every service; `user` is whose the keys are. */
  aws: S3Server & { user: string };
  /** Checks signatures, whichever server it is. */
  s3: S3Server & { name: string };
  /** For Spark; checks them only where it is MinIO. */
  hadoop: S3Server;
  fakeGcs: { url: string };
  azurite: { url: string; accountName: string; accountKey: string };
}

export interface S3Server {
  url: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** The servers that were started for this run. */
export function storeServers(): StoreServers {
  const file = process.env.TEST_STORE_SERVERS;
  if (!file) throw new Error('TEST_STORE_SERVERS is not set: jest.config.cjs prepares it');
  return JSON.parse(readFileSync(file, 'utf8')) as StoreServers;
}

/** As the quickstart has it: the servers are on this machine. */
export const outbound = new OutboundPolicy({ schemes: ['http', 'https'], allowedClasses: ['loopback'] });

let count = 0;

/** A bucket name that no other test has. */
export function newBucketName(): string {
  count += 1;
  return `contract-${process.pid}-${Date.now()}-${count}`;
}
