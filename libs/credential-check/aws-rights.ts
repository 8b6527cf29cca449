import {
  DescribeAddressesCommand,
  DescribeImagesCommand,
  DescribeInstancesCommand,
  DescribeNetworkInterfacesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVolumesCommand,
  DescribeVpcsCommand,
  type EC2Client,
  RunInstancesCommand,
} from '@aws-sdk/client-ec2';
import { AwsConnection } from '../compute-drivers/aws/aws-connection';
import { INSTALLATION_LABEL } from '../compute-drivers/cloud-driver';
import { ComputeDriverError } from '../compute-drivers/compute-driver';
import type { CheckContext } from './credential-check';

type Options = { abortSignal: AbortSignal };
type Ask = (client: EC2Client, options: Options) => Promise<unknown>;

const DryRun = true;

/** Rights, and a call that EC2 would do with each of them: as a dry run it does nothing, and says whether it may. */
const PROBES: Readonly<Record<string, Ask>> = {
  'ec2:DescribeInstances': (client, options) => client.send(new DescribeInstancesCommand({ DryRun }), options),
  'ec2:DescribeImages': (client, options) =>
    client.send(new DescribeImagesCommand({ DryRun, Owners: ['self'] }), options),
  'ec2:DescribeSubnets': (client, options) => client.send(new DescribeSubnetsCommand({ DryRun }), options),
  'ec2:DescribeVpcs': (client, options) => client.send(new DescribeVpcsCommand({ DryRun }), options),
  'ec2:DescribeSecurityGroups': (client, options) =>
    client.send(new DescribeSecurityGroupsCommand({ DryRun }), options),
  'ec2:DescribeVolumes': (client, options) => client.send(new DescribeVolumesCommand({ DryRun }), options),
  'ec2:DescribeNetworkInterfaces': (client, options) =>
    client.send(new DescribeNetworkInterfacesCommand({ DryRun }), options),
  'ec2:DescribeAddresses': (client, options) => client.send(new DescribeAddressesCommand({ DryRun }), options),
};

/** A machine that is small everywhere, of an image that is in every region. */
const TYPE = 't3.micro';
const IMAGES = 'al2023-ami-minimal-2023.*-x86_64';

/**
 * Which rights a key pair lacks to make nodes. Those about single machines cannot be asked for without one.
 * @param endpoint null for that of the region
 * @throws ComputeDriverError where EC2 does not tell
 */
export async function missingAwsRights(
  credentials: Readonly<Record<string, string>>,
  endpoint: string | null,
  { agents, signal }: CheckContext,
): Promise<string[]> {
  const aws = new AwsConnection({ credentials, signal }, { region: null, endpoint, agents, secrets: [] });
  const missing: string[] = [];
  // One by one: EC2 counts the calls of an account.
  for (const [right, ask] of Object.entries(PROBES)) if ((await denialOf(aws, ask)) !== null) missing.push(right);
  return missing.includes('ec2:DescribeImages') ? missing : [...missing, ...(await missingToRun(aws))];
}

/** Whether machines with the label of an installation may be made in the usual network. */
async function missingToRun(aws: AwsConnection): Promise<string[]> {
  const Filters = [{ Name: 'name', Values: [IMAGES] }];
  const { Images = [] } = await aws.call((client, options) =>
    client.send(new DescribeImagesCommand({ Owners: ['amazon'], Filters, MaxResults: 10 }), options),
  );
  const ImageId = Images[0]?.ImageId;
  if (ImageId === undefined) return [];
  const Tags = [{ Key: INSTALLATION_LABEL, Value: 'check' }];
  const TagSpecifications = (['instance', 'volume', 'network-interface'] as const).map((ResourceType) => ({
    ...{ ResourceType, Tags },
  }));
  const request = { DryRun, MinCount: 1, MaxCount: 1, ImageId, InstanceType: TYPE, TagSpecifications } as const;
  const words = await denialOf(
    aws,
    (client, options) => client.send(new RunInstancesCommand({ ...request, TagSpecifications }), options),
    true,
  );
  if (words === null) return [];
  const [right] = /\bec2:[A-Za-z]+/.exec(words) ?? ['ec2:RunInstances'];
  return [right];
}

/**
 * The words by which EC2 refuses a dry run for want of a right; null where it would do it.
 * @param lenient whether a refusal for another reason is none, such as that there is no usual network
 */
async function denialOf(aws: AwsConnection, ask: Ask, lenient = false): Promise<string | null> {
  try {
    await aws.call(ask);
    return null;
  } catch (error) {
    if (!(error instanceof ComputeDriverError)) throw error;
    if (error.code === 'UnauthorizedOperation') return error.message;
    if (error.code === 'DryRunOperation' || (lenient && error.kind === 'invalid')) return null;
    throw error;
  }
}
