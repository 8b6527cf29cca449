import {
  DescribeInstanceAttributeCommand,
  DescribeInstancesCommand,
  DescribeNetworkInterfacesCommand,
  DescribeSubnetsCommand,
  DescribeVolumesCommand,
  EC2Client,
  type Filter,
  type Instance,
} from '@aws-sdk/client-ec2';
import { INSTALLATION_LABEL } from '../../../libs/compute-drivers/cloud-driver';
import type { Ec2Proxy } from './ec2-proxy';
import type { RoomMachine } from './machine-room';

export const EC2_REGION = 'us-east-1';
export const EC2_CREDENTIALS = {
  AWS_ACCESS_KEY_ID: 'AKIATEST',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_DEFAULT_REGION: EC2_REGION,
};

/** Ids of the lookups for a machine at EC2. */
export const EC2_IDS = { providerId: 1, credentialTypeId: 1, zoneId: 303, machineTypeId: 100, diskTypeId: 4 };
/** An image that moto has. */
export const EC2_IMAGE = 'ami-03cf127a';

/** Machines of an installation at EC2, with their boot scripts. */
export class Ec2Instances {
  private readonly client: EC2Client;
  private readonly userData = new Map<string, string>();
  private readonly lives = new Map<string, { state: string; boots: number }>();

  constructor(
    endpoint: string,
    private readonly installationId: string,
  ) {
    const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' };
    this.client = new EC2Client({ endpoint, region: EC2_REGION, credentials });
  }

  async list(): Promise<RoomMachine[]> {
    const machines: RoomMachine[] = [];
    // moto lists terminated machines forever, so they are filtered out.
    const there = { Name: 'instance-state-name', Values: ['running', 'stopped'] };
    for (const { InstanceId: id = '', State } of await this.withTag(INSTALLATION_LABEL, this.installationId, there)) {
      const state = State?.Name;
      if (state !== 'running' && state !== 'stopped') continue;
      const life = this.lives.get(id);
      const boots = (life?.boots ?? 0) + (state === 'running' && life?.state !== 'running' ? 1 : 0);
      this.lives.set(id, { state, boots });
      machines.push({ id, state, boots, userData: await this.userDataOf(id) });
    }
    return machines;
  }

  /** Lists all machines that match the filters, including terminated ones that EC2 still lists. */
  async withTag(name: string, value: string, ...more: Filter[]): Promise<Instance[]> {
    const { Reservations = [] } = await this.client.send(
      new DescribeInstancesCommand({ Filters: [tagIs(name, value), ...more] }),
    );
    return Reservations.flatMap(({ Instances = [] }) => Instances);
  }

  /** Lists the ids of disks and network interfaces. */
  async partsWithTag(name: string, value: string): Promise<string[]> {
    const Filters = [tagIs(name, value)];
    const { Volumes = [] } = await this.client.send(new DescribeVolumesCommand({ Filters }));
    const { NetworkInterfaces = [] } = await this.client.send(new DescribeNetworkInterfacesCommand({ Filters }));
    return [
      ...Volumes.map(({ VolumeId = '' }) => VolumeId),
      ...NetworkInterfaces.map(({ NetworkInterfaceId = '' }) => NetworkInterfaceId),
    ];
  }

  /** Gives the default subnets of all zones the same name. Returns their network and the name. */
  async subnetsInAllZones(proxy: Ec2Proxy): Promise<{ network_name: string; subnet: string }> {
    const subnet = `nodes-${process.pid}`;
    const { network_name } = await this.subnet();
    const Filters = [{ Name: 'default-for-az', Values: ['true'] }];
    const { Subnets = [] } = await this.client.send(new DescribeSubnetsCommand({ Filters }));
    for (const { SubnetId = '' } of Subnets)
      await proxy.ask({ Action: 'CreateTags', 'ResourceId.1': SubnetId, 'Tag.1.Key': 'Name', 'Tag.1.Value': subnet });
    return { network_name, subnet };
  }

  /** Lists the zones of the existing machines. */
  async zones(): Promise<(string | undefined)[]> {
    const all = await this.withTag(INSTALLATION_LABEL, this.installationId);
    const running = all.filter(({ State }) => State?.Name === 'running');
    return running.map(({ Placement }) => Placement?.AvailabilityZone);
  }

  /** Returns the default subnet of the zone. */
  async subnet(): Promise<{ network_name: string; subnet: string }> {
    const filters = { 'default-for-az': 'true', 'availability-zone': 'us-east-1a' };
    const { Subnets: [found] = [] } = await this.client.send(
      new DescribeSubnetsCommand({
        Filters: Object.entries(filters).map(([Name, Value]) => ({ Name, Values: [Value] })),
      }),
    );
    return { network_name: found?.VpcId ?? '', subnet: found?.SubnetId ?? '' };
  }

  private async userDataOf(id: string): Promise<string> {
    const known = this.userData.get(id);
    if (known !== undefined) return known;
    const { UserData } = await this.client.send(
      new DescribeInstanceAttributeCommand({ InstanceId: id, Attribute: 'userData' }),
    );
    const text = Buffer.from(UserData?.Value ?? '', 'base64').toString();
    this.userData.set(id, text);
    return text;
  }
}

function tagIs(name: string, value: string): Filter {
  return { Name: `tag:${name}`, Values: [value] };
}
