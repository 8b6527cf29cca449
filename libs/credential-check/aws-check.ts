import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { missingAwsRights } from './aws-rights';
import { describeMissingRights } from './missing-rights';
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
 * AWS key pair: STS says whose it is, which every key may ask (no policy can deny it). Of one that works, also which rights
 * it lacks to make nodes.
 * @param servers null for AWS itself, which is found by the region
 */
export async function checkAwsKeys(
  keys: { accessKeyId: string; secretAccessKey: string; region: string },
  { sts: endpoint, ec2 }: { sts: string | null; ec2: string | null },
  context: CheckContext,
): Promise<CredentialCheck> {
  const { accessKeyId, secretAccessKey, region } = keys;
  const { agents, signal } = context;
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
  let arn: string | undefined;
  try {
    ({ Arn: arn } = await client.send(new GetCallerIdentityCommand({}), { abortSignal: signal }));
  } catch (error) {
    return notWorking(awsRefusal(error, server).reason, [secretAccessKey]);
  }
  // The SDK takes any page for an empty answer.
  if (!arn) throw new ProviderUnreachableError(server, 'does not answer like STS');
  const credentials = {
    ...{ AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_DEFAULT_REGION: region },
  };
  return working(arn, await describeMissingRights(`in ${region}`, () => missingAwsRights(credentials, ec2, context)));
}
