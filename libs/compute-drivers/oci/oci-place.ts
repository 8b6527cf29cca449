import type { ComputeDriverError } from '../compute-driver';
import type { Place } from '../place';
import { isOcid, type OciConnection, textOf } from './oci-connection';
import { type OciPlace, unsupportedNode } from './oci-launch';

/** Oracle's limit of network security groups of one network interface. */
const MAX_GROUPS = 5;

/** Resolves the names of a place to ids. */
export async function resolvePlace(place: Place, oci: OciConnection, compartmentId: string): Promise<OciPlace> {
  const { network, subnet, networkTags } = place;
  if (networkTags.length > MAX_GROUPS)
    throw unsupportedNode(
      `it has ${networkTags.length} network tags, and a machine can be in at most ${MAX_GROUPS} network security groups`,
    );
  const named = new NamedResources(oci, compartmentId);
  // Names are unique only within a network.
  const needsNetwork = !isOcid(subnet, 'subnet') || !networkTags.every((tag) => isOcid(tag, 'networksecuritygroup'));
  const vcnId = needsNetwork ? await named.network(network) : null;
  const [availabilityDomain, subnetId, ...networkSecurityGroupIds] = await Promise.all([
    domainOf(place, oci),
    named.subnet(subnet, vcnId),
    ...networkTags.map((tag) => named.securityGroup(tag, vcnId)),
  ]);
  return { availabilityDomain, subnetId, networkSecurityGroupIds };
}

/** Returns the tenancy's name of an availability domain: `Uocm:US-ASHBURN-AD-2` for `us-ashburn-1-ad-2`. */
async function domainOf({ zone }: Place, oci: OciConnection): Promise<string> {
  const [, number] = /-ad-(\d{1,2})$/i.exec(zone ?? '') ?? [];
  if (number === undefined)
    throw unsupportedNode('neither its cloud environment nor its network names an availability domain as its zone');
  const names = await oci.availabilityDomains();
  const found = names.find((name) => name.toLowerCase().endsWith(`-ad-${number}`));
  if (found === undefined) throw unsupportedNode(`its region has no availability domain ${number}`);
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

/** Finds resources that users name by OCID or by display name. */
class NamedResources {
  constructor(
    private readonly oci: OciConnection,
    private readonly compartmentId: string,
  ) {}

  async network(network: string | null): Promise<string | null> {
    if (network === null || isOcid(network, 'vcn')) return network;
    return this.findOnly('network', network, null, (search) => this.oci.network((client) => client.listVcns(search)));
  }

  /** Returns the id of the subnet, or of the network's only subnet if none is named. */
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
        // The SDK does not encode it for the query.
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
  const named = name === null ? `${kind}s of its network` : `${kind}s named "${name}"`;
  return unsupportedNode(
    `the user of the credentials sees ${count} ${named} in the compartment instead of one; use an OCID`,
  );
}
