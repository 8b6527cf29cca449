import { createHash } from 'node:crypto';
import {
  type BlockDeviceMapping,
  DescribeImagesCommand,
  type Image,
  type RunInstancesCommandInput,
  type Tag,
  type TagSpecification,
} from '@aws-sdk/client-ec2';
import { machineLabels } from '../cloud-driver';
import type { NodeDisk, NodeSpec } from '../compute-driver';
import type { AwsConnection } from './aws-connection';
import { invalidLaunch } from './aws-faults';
import type { AwsPlace } from './aws-place';

/** EC2's limit of the script before it is encoded. */
const MAX_USER_DATA_BYTES = 16 * 1024;
const MAX_TAGS = 50;
/** Letters of the device names that EC2 recommends for data disks. */
const DISK_LETTERS = [...'fghijklmnop'];

/** Validates a spec without a call to EC2. */
export function assertLaunchable(spec: NodeSpec, script: string): void {
  const { disks, image, userLabels } = spec;
  const bytes = Buffer.byteLength(script);
  if (bytes > MAX_USER_DATA_BYTES)
    throw invalidLaunch(`its boot script has ${bytes} bytes, and EC2 allows ${MAX_USER_DATA_BYTES}`);
  if (disks.length > DISK_LETTERS.length)
    throw invalidLaunch(`it has ${disks.length} data disks, and at most ${DISK_LETTERS.length} are possible`);
  if (!/^ami-[0-9a-f]{1,32}$/.test(image))
    throw invalidLaunch(`its image "${image}" is not the id of an AMI, such as ami-0123456789abcdef0`);
  for (const [key, value] of Object.entries(userLabels)) {
    if (key === '' || [...key].length > 128 || /^aws:/i.test(key))
      throw invalidLaunch(`EC2 does not allow a tag with the key "${key}"; rename the label`);
    if ([...value].length > 256) throw invalidLaunch(`the value of the label ${key} has more than 256 characters`);
  }
  const count = Object.keys(machineLabels(spec, MAX_TAGS)).length;
  if (count > MAX_TAGS)
    throw invalidLaunch(
      `it would have ${count} tags, including the platform's, and EC2 allows ${MAX_TAGS}; remove some labels`,
    );
}

/** Idempotency token of an attempt: EC2 launches one machine for all requests with the same token. */
export function clientToken({ labels, attempt }: NodeSpec): string {
  return createHash('sha256').update(`${labels.installationId}\n${labels.nodeToken}\n${attempt}`).digest('hex');
}

export async function imageOf(id: string, aws: AwsConnection): Promise<Image> {
  const { Images = [] } = await aws.call((client, options) =>
    client.send(new DescribeImagesCommand({ ImageIds: [id] }), options),
  );
  const [image] = Images;
  if (!image) throw invalidLaunch(`its region has no image ${id}`);
  return image;
}

/** Returns the launch request. Nothing in it depends on the time, so a repeated request is the same to the byte. */
export function launchRequest(
  spec: NodeSpec,
  { subnetId, groupIds }: AwsPlace,
  image: Image,
  script: string,
): RunInstancesCommandInput {
  const { market, identity, enablePublicIp } = spec;
  const spot = market === 'spot';
  return {
    ClientToken: clientToken(spec),
    MinCount: 1,
    MaxCount: 1,
    ImageId: spec.image,
    InstanceType: spec.machine.type as RunInstancesCommandInput['InstanceType'],
    UserData: Buffer.from(script).toString('base64'),
    // Only processes on the machine itself reach the metadata, with a token. Containers behind another hop do not.
    MetadataOptions: { HttpEndpoint: 'enabled', HttpTokens: 'required', HttpPutResponseHopLimit: 1 },
    NetworkInterfaces: [
      {
        DeviceIndex: 0,
        SubnetId: subnetId,
        AssociatePublicIpAddress: enablePublicIp,
        DeleteOnTermination: true,
        ...(groupIds.length === 0 ? {} : { Groups: groupIds }),
      },
    ],
    BlockDeviceMappings: [...rootDisk(spec, image), ...spec.disks.map(dataDisk)],
    TagSpecifications: tagSpecifications(spec),
    ...(identity === null
      ? {}
      : { IamInstanceProfile: identity.startsWith('arn:') ? { Arn: identity } : { Name: identity } }),
    ...(spot
      ? {
          InstanceMarketOptions: {
            MarketType: 'spot',
            SpotOptions: { SpotInstanceType: 'one-time', InstanceInterruptionBehavior: 'terminate' },
          },
        }
      : { InstanceInitiatedShutdownBehavior: 'stop' }),
  };
}

/** The root disk has the size of the image's, and is deleted with the machine even if the image would keep it. */
function rootDisk(
  { disks }: NodeSpec,
  { RootDeviceName, RootDeviceType, BlockDeviceMappings = [] }: Image,
): BlockDeviceMapping[] {
  if (!RootDeviceName || RootDeviceType === 'instance-store') return [];
  const encrypted = disks.some((disk) => disk.encrypted);
  const size = BlockDeviceMappings.find(({ DeviceName }) => DeviceName === RootDeviceName)?.Ebs?.VolumeSize;
  return [
    {
      DeviceName: RootDeviceName,
      Ebs: {
        DeleteOnTermination: true,
        VolumeType: 'gp3',
        ...(size === undefined ? {} : { VolumeSize: size }),
        ...(encrypted ? { Encrypted: true } : {}),
      },
    },
  ];
}

function dataDisk({ gib, type, iops, throughputMb, encrypted }: NodeDisk, index: number): BlockDeviceMapping {
  return {
    DeviceName: `/dev/sd${DISK_LETTERS[index] ?? ''}`,
    Ebs: {
      DeleteOnTermination: true,
      VolumeSize: gib,
      VolumeType: type as NonNullable<BlockDeviceMapping['Ebs']>['VolumeType'],
      Encrypted: encrypted,
      ...(iops === null ? {} : { Iops: iops }),
      ...(throughputMb === null ? {} : { Throughput: throughputMb }),
    },
  };
}

function tagSpecifications(spec: NodeSpec): TagSpecification[] {
  const labels = machineLabels(spec, MAX_TAGS);
  const Tags: Tag[] = Object.keys(labels)
    .sort()
    .map((Key) => ({ Key, Value: labels[Key] }));
  const kinds = ['instance', 'volume', 'network-interface'] as const;
  return kinds.map((ResourceType) => ({ ResourceType, Tags }));
}
