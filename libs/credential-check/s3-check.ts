import { randomBytes } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { ACCESS_KEY_ID_INVALID, awsRefusal, isAccessKeyId } from './aws-refusal';
import {
  type CheckContext,
  CheckUnsupportedError,
  type CredentialCheck,
  notWorking,
  ProviderUnreachableError,
  working,
} from './credential-check';

interface S3Keys {
  accessKeyId: string;
  secretAccessKey: string;
}

/** Code of valid keys without the permission to list. */
const DENIED = 'AccessDenied';

/** More than a list of a thousand buckets has. The SDK keeps the whole response in memory. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** Checks keys of an S3 store. They work if the store lists buckets, or denies it only for a missing permission. */
export async function checkS3Keys(keys: S3Keys, endpoint: URL, context: CheckContext): Promise<CredentialCheck> {
  const { secretAccessKey, accessKeyId } = keys;
  if (!isAccessKeyId(accessKeyId)) return notWorking(ACCESS_KEY_ID_INVALID);
  const answer = await listBuckets(keys, endpoint, context);
  if (!('code' in answer)) return working(answer.owner);
  if (answer.code !== DENIED) return notWorking(answer.reason, [secretAccessKey]);
  const forged = await listBuckets(
    { accessKeyId, secretAccessKey: randomBytes(20).toString('hex') },
    endpoint,
    context,
  );
  if ('code' in forged && forged.code !== DENIED) return working(null);
  throw new CheckUnsupportedError(
    `${endpoint.host} refuses to list buckets in the same way as for a wrong secret, so the platform cannot check these keys. Either the secret is wrong, or the keys lack the permission to list buckets.`,
  );
}

async function listBuckets(
  credentials: S3Keys,
  endpoint: URL,
  { agents, signal }: CheckContext,
): Promise<{ owner: string | null } | { code: string; reason: string }> {
  const client = new S3Client({
    // Stores other than Amazon's ignore the region.
    region: 'us-east-1',
    credentials,
    endpoint: endpoint.href,
    forcePathStyle: true,
    maxAttempts: 2,
    requestHandler: { httpAgent: agents.http, httpsAgent: agents.https },
  });
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const response = result.response as { body?: unknown };
      if (response.body instanceof Readable) response.body = limited(response.body);
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'limitAnswer' },
  );
  try {
    const { Owner, Buckets } = await client.send(new ListBucketsCommand({}), { abortSignal: signal });
    // The SDK reads any page as an empty response.
    if (Owner || Buckets) return { owner: Owner?.DisplayName ?? Owner?.ID ?? null };
  } catch (error) {
    return awsRefusal(error, endpoint.host);
  }
  throw new ProviderUnreachableError(endpoint.host, 'sent a response that is not from an S3 store');
}

function limited(source: Readable): Readable {
  let length = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length;
      done(length > MAX_RESPONSE_BYTES ? new Error('The response is too long') : null, chunk);
    },
  });
  source.on('error', (error) => limit.destroy(error));
  limit.on('close', () => source.destroy());
  return source.pipe(limit);
}
