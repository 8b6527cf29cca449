import {
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  type Filter,
  type Subnet,
} from '@aws-sdk/client-ec2';
import type { Place } from '../place';
import type { AwsConnection } from './aws-connection';
import { invalidLaunch } from './aws-faults';

export interface AwsPlace {
  subnetId: string;
  /** Empty for the network's default security group. */
  groupIds: string[];
}

/** Resolves the names of a place to ids. A network or subnet is named by its tag `Name`, a security group by its name. */
export async function resolvePlace(place: Place, aws: AwsConnection): Promise<AwsPlace> {
  const { SubnetId: subnetId, VpcId: vpcId } = await subnetOf(place, aws);
  if (!subnetId || !vpcId) throw invalidLaunch('EC2 returned its subnet without an id');
  return { subnetId, groupIds: await groupsOf(place.networkTags, vpcId, aws) };
}

/** Returns the zones in which the place's network has the subnet. */
export async function zonesOf(place: Place, aws: AwsConnection): Promise<string[]> {
  const zones = (await subnetsOf({ ...place, zone: null }, aws)).map(({ AvailabilityZone }) => AvailabilityZone);
  return [...new Set(zones)].filter((zone) => zone !== undefined);
}

async function subnetsOf({ zone, network, subnet }: Place, aws: AwsConnection): Promise<Subnet[]> {
  const isId = subnet !== null && /^subnet-[0-9a-f]{1,32}$/.test(subnet);
  const filters: Filter[] = [];
  if (network !== null) filters.push(equalsFilter('vpc-id', await networkId(network, aws)));
  if (zone !== null) filters.push(equalsFilter('availability-zone', zone));
  if (isId) filters.push(equalsFilter('subnet-id', subnet));
  else if (subnet !== null) filters.push(equalsFilter('tag:Name', subnet));
  if (network === null && subnet === null) filters.push(equalsFilter('default-for-az', 'true'));
  return aws.listAll(
    (client, page, options) => client.send(new DescribeSubnetsCommand({ Filters: filters, ...page }), options),
    ({ Subnets }) => Subnets,
  );
}

async function subnetOf(place: Place, aws: AwsConnection): Promise<Subnet> {
  const { zone, network, subnet } = place;
  const found = await subnetsOf(place, aws);
  // The order is fixed, because a repeated request must be the same.
  const [first, second] = found.sort((one, other) => ((one.SubnetId ?? '') < (other.SubnetId ?? '') ? -1 : 1));
  const where = `${network === null ? '' : ` in the network ${network}`}${zone === null ? '' : ` in the zone ${zone}`}`;
  if (!first) throw invalidLaunch(`AWS has no ${subnet === null ? 'subnet' : `subnet "${subnet}"`}${where}`);
  if (second && subnet !== null) throw invalidLaunch(`AWS has several subnets "${subnet}"${where}; use the id of one`);
  return first;
}

async function networkId(network: string, aws: AwsConnection): Promise<string> {
  if (/^vpc-[0-9a-f]{1,32}$/.test(network)) return network;
  const { Vpcs = [] } = await aws.call((client, options) =>
    client.send(new DescribeVpcsCommand({ Filters: [equalsFilter('tag:Name', network)] }), options),
  );
  const [only] = Vpcs;
  if (!only?.VpcId) throw invalidLaunch(`its region has no network (VPC) "${network}"`);
  if (Vpcs.length > 1) throw invalidLaunch(`its region has several networks (VPCs) "${network}"; use the id of one`);
  return only.VpcId;
}

async function groupsOf(names: readonly string[], vpcId: string, aws: AwsConnection): Promise<string[]> {
  if (names.length === 0) return [];
  const groups = await aws.listAll(
    (client, page, options) =>
      client.send(new DescribeSecurityGroupsCommand({ Filters: [equalsFilter('vpc-id', vpcId)], ...page }), options),
    ({ SecurityGroups }) => SecurityGroups,
  );
  return names.map((name) => {
    const id = groups.find(({ GroupId, GroupName }) => GroupId === name || GroupName === name)?.GroupId;
    if (!id)
      throw invalidLaunch(`the network ${vpcId} has no security group "${name}", which is one of its network tags`);
    return id;
  });
}

export function equalsFilter(name: string, ...values: string[]): Filter {
  return wildcardFilter(name, ...values.map(escapeWildcards));
}

/** Returns a filter whose values may contain `*` for any characters. */
export function wildcardFilter(Name: string, ...Values: string[]): Filter {
  return { Name, Values };
}

/** Escapes `*`, `?` and `\`, which EC2 treats as special in the values of a filter. */
export function escapeWildcards(value: string): string {
  return value.replaceAll(/[\\*?]/g, '\\$&');
}
