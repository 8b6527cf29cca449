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
type Probe = (client: EC2Client, options: Options) => Promise<unknown>;

const DryRun = true;

/** Calls by the right that each needs. A dry run changes nothing and shows whether the call is allowed. */
const PROBES: Readonly<Record<string, Probe>> = {
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

/** A machine type and an image that every region has. */
const TYPE = 't3.micro';
const IMAGES = 'al2023-ami-minimal-2023.*-x86_64';

/**
 * Returns the rights that a key pair lacks to create nodes. Rights for single machines cannot be checked without a machine.
 * @param endpoint null for the public endpoint of the region
 * @throws ComputeDriverError if EC2 fails for another reason
 */
export async function missingAwsRights(
  credentials: Readonly<Record<string, string>>,
  endpoint: string | null,
  { agents, signal }: CheckContext,
): Promise<string[]> {
  const aws = new AwsConnection({ credentials, signal }, { region: null, endpoint, agents, secrets: [] });
  const missing: string[] = [];
  // The calls go one by one, because EC2 limits the calls of an account.
  for (const [right, probe] of Object.entries(PROBES)) if ((await denialOf(aws, probe)) !== null) missing.push(right);
  return missing.includes('ec2:DescribeImages') ? missing : [...missing, ...(await missingToRun(aws))];
}

/** Returns the missing right to launch machines with the platform's labels in the default network; empty if allowed or unknown. */
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
  const denial = await denialOf(
    aws,
    (client, options) => client.send(new RunInstancesCommand({ ...request, TagSpecifications }), options),
    true,
  );
  if (denial === null) return [];
  const [right] = /\bec2:[A-Za-z]+/.exec(denial) ?? ['ec2:RunInstances'];
  return [right];
}

/**
 * Returns the message with which EC2 denies a dry run; null if it is allowed.
 * @param lenient true if refusals for other reasons are ignored, such as a missing default network
 */
async function denialOf(aws: AwsConnection, send: Probe, lenient = false): Promise<string | null> {
  try {
    await aws.call(send);
    return null;
  } catch (error) {
    if (!(error instanceof ComputeDriverError)) throw error;
    if (error.code === 'UnauthorizedOperation') return error.message;
    if (error.code === 'DryRunOperation' || (lenient && error.kind === 'invalid')) return null;
    throw error;
  }
}
