import type { Place } from '../../../../../libs/compute-drivers/place';
import type { CloudEnvData } from '../../../infrastructure/environments';
import type { ReferenceData } from '../../../foundation/reference-data';

export function placeOf(env: CloudEnvData, referenceData: Pick<ReferenceData, 'availabilityZone'>): Place {
  const { network_conf: network } = env;
  const zoneId = env.availability_zone_id ?? network.availability_zone_id;
  const zone = zoneId === null ? undefined : referenceData.availabilityZone(zoneId);
  return {
    account: env.cloud_project,
    region: zone?.region ?? null,
    // A zone with the name of its region stands for the whole region.
    zone: zone && zone.name !== zone.region ? zone.name : null,
    networkAccount: network.network_project_id,
    network: network.network_name ?? network.bridge,
    subnet: network.subnet,
    networkTags: network.network_tags,
    networkCard: network.model,
    hosts: env.onprem_node_names ?? [],
  };
}
