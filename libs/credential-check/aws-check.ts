import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { ACCESS_KEY_ID_INVALID, awsRefusal, isAccessKeyId } from './aws-refusal';
import {
  type CheckContext,
  type CredentialCheck,
  notWorking,
  ProviderUnreachableError,
  working,
} from './credential-check';

/** It becomes a part of a host name. */
const REGION = /^[a-z0-9-]{1,40}$/;

/**
 * AWS key pair: STS says whose it is, which every key may ask (no policy can deny it).
 * @param endpoint null for AWS itself, which is found by the region
 */
export async function checkAwsKeys(
  keys: { accessKeyId: string; secretAccessKey: string; region: string },
  endpoint: string | null,
  { agents, signal }: CheckContext,
): Promise<CredentialCheck> {
  const { accessKeyId, secretAccessKey, region } = keys;
  if (!REGION.test(region)) return notWorking('AWS_DEFAULT_REGION is not a region.');
  if (!isAccessKeyId(accessKeyId)) return notWorking(ACCESS_KEY_ID_INVALID);
  // Never destroyed: that would end the connections of the agents, which are shared.
  const client = new STSClient({
    region,
    credentials: { accessKeyId, secretAccessKey },
    ...(endpoint === null ? {} : { endpoint }),
    // The second attempt corrects a clock that is off.
    maxAttempts: 2,
    requestHandler: { httpAgent: agents.http, httpsAgent: agents.https },
  });
  const server = endpoint === null ? `AWS STS in the region ${region}` : new URL(endpoint).host;
  try {
    const { Arn } = await client.send(new GetCallerIdentityCommand({}), { abortSignal: signal });
    // The SDK takes any page for an empty answer.
    if (Arn) return working(Arn);
  } catch (error) {
    return notWorking(awsRefusal(error, server).reason, [secretAccessKey]);
  }
  throw new ProviderUnreachableError(server, 'does not answer like STS');
}
