import type { ComputeDriverError } from '../compute-driver';
import type { Place } from '../place';
import { isOcid, type OciConnection, textOf } from './oci-connection';
import { type OciPlace, unsupportedNode } from './oci-launch';

/** Oracle's bound on security groups of one network card. */
const MAX_GROUPS = 5;

/** Looks up what the names of a place stand for. */
export async function resolvePlace(place: Place, oci: OciConnection, compartmentId: string): Promise<OciPlace> {
  const { network, subnet, networkTags } = place;
  if (networkTags.length > MAX_GROUPS)
    throw unsupportedNode(
      `a machine is in at most ${MAX_GROUPS} network security groups, and ${networkTags.length} are given`,
    );
  const named = new NamedResources(oci, compartmentId);
  // Names are unique within a network at most.
  const needsNetwork = !isOcid(subnet, 'subnet') || !networkTags.every((tag) => isOcid(tag, 'networksecuritygroup'));
  const vcnId = needsNetwork ? await named.network(network) : null;
  const [availabilityDomain, subnetId, ...networkSecurityGroupIds] = await Promise.all([
    domainOf(place, oci),
    named.subnet(subnet, vcnId),
    ...networkTags.map((tag) => named.securityGroup(tag, vcnId)),
  ]);
  return { availabilityDomain, subnetId, networkSecurityGroupIds };
}

/** Of `us-ashburn-1-ad-2`, the tenancy's own name, such as `Uocm:US-ASHBURN-AD-2`. */
async function domainOf({ zone }: Place, oci: OciConnection): Promise<string> {
  const [, number] = /-ad-(\d{1,2})$/i.exec(zone ?? '') ?? [];
  if (number === undefined)
    throw unsupportedNode('its cloud environment or network names no availability domain, which every machine is in');
  const names = await oci.availabilityDomains();
  const found = names.find((name) => name.toLowerCase().endsWith(`-ad-${number}`));
  if (found === undefined) throw unsupportedNode(`the region has no availability domain ${number}`);
  return found;
}

interface Named {
  id: string;
  displayName?: string;
  lifecycleState: string;
}

interface Search {
  compartmentId: string;
  limit: number;
  page?: string;
  vcnId?: string;
  displayName?: string;
}

/** What users give by OCID or by display name. */
class NamedResources {
  constructor(
    private readonly oci: OciConnection,
    private readonly compartmentId: string,
  ) {}

  async network(network: string | null): Promise<string | null> {
    if (network === null || isOcid(network, 'vcn')) return network;
    return this.findOnly('network', network, null, (search) => this.oci.network((client) => client.listVcns(search)));
  }

  /** Without a name, the only one of its network. */
  async subnet(subnet: string | null, vcnId: string | null): Promise<string> {
    if (subnet !== null && isOcid(subnet, 'subnet')) return subnet;
    if (subnet === null && vcnId === null) throw unsupportedNode('its network names neither a network nor a subnet');
    return this.findOnly('subnet', subnet, vcnId, (search) => this.oci.network((client) => client.listSubnets(search)));
  }

  async securityGroup(group: string, vcnId: string | null): Promise<string> {
    if (isOcid(group, 'networksecuritygroup')) return group;
    return this.findOnly('network security group', group, vcnId, (search) =>
      this.oci.network((client) => client.listNetworkSecurityGroups(search)),
    );
  }

  private async findOnly(
    kind: string,
    name: string | null,
    vcnId: string | null,
    list: (search: Search) => Promise<{ items: Named[]; opcNextPage?: string }>,
  ): Promise<string> {
    const found = await this.oci.listAll((page) =>
      list({
        ...{ compartmentId: this.compartmentId, ...page },
        ...(vcnId === null ? {} : { vcnId }),
        // The SDK puts it into the query as it is.
        ...(name === null ? {} : { displayName: encodeURIComponent(name) }),
      }),
    );
    const ids = found.filter(({ lifecycleState }) => lifecycleState === 'AVAILABLE').map(({ id }) => textOf(id));
    const [id] = ids;
    if (ids.length !== 1 || !isOcid(id)) throw notUnique(kind, name, ids.length);
    return id;
  }
}

function notUnique(kind: string, name: string | null, count: number): ComputeDriverError {
  const what = name === null ? `its network has ${count} ${kind}s` : `there are ${count} ${kind}s named "${name}"`;
  return unsupportedNode(`${what} that the user may see in the compartment; give one by its OCID`);
}
