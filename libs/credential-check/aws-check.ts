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

/** The region becomes a part of a host name. */
const REGION = /^[a-z0-9-]{1,40}$/;

/**
 * Checks an AWS key pair with STS GetCallerIdentity, which no policy can deny. Also finds the rights that a working pair lacks
 * to create nodes.
 * @param servers null for the public endpoints of the region
 */
export async function checkAwsKeys(
  keys: { accessKeyId: string; secretAccessKey: string; region: string },
  { sts: endpoint, ec2 }: { sts: string | null; ec2: string | null },
  context: CheckContext,
): Promise<CredentialCheck> {
  const { accessKeyId, secretAccessKey, region } = keys;
  const { agents, signal } = context;
  if (!REGION.test(region)) return notWorking('AWS_DEFAULT_REGION is not the name of a region, such as eu-west-1.');
  if (!isAccessKeyId(accessKeyId)) return notWorking(ACCESS_KEY_ID_INVALID);
  // The client is never destroyed, because that would close the connections of the shared agents.
  const client = new STSClient({
    region,
    credentials: { accessKeyId, secretAccessKey },
    ...(endpoint === null ? {} : { endpoint }),
    // The second attempt corrects a wrong clock.
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
  // The SDK reads any page as an empty response.
  if (!arn) throw new ProviderUnreachableError(server, 'sent a response that is not from STS');
  const credentials = {
    ...{ AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_DEFAULT_REGION: region },
  };
  return working(arn, await describeMissingRights(`in ${region}`, () => missingAwsRights(credentials, ec2, context)));
}
