import { fieldsOf } from '../../../../platform/kernel/dto/response-fields';
import { Field } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { type Own, recordJson } from '../../../../platform/http/resources/record-json';
import { AvailabilityZoneRef, type ReferenceData } from '../../../foundation/reference-data';
import { NetworkConf } from './entities/network-conf.entity';

/** Fields of the row that every response with a network configuration has. */
export class NetworkConfFields {
  @Field.text({ nullable: true }) description: string | null;
  @Field.text({ nullable: true }) network_project_id: string | null;
  @Field.text({ nullable: true }) network_name: string | null;
  @Field.texts() network_tags: string[];
  @Field.text({ nullable: true }) subnet: string | null;
  @Field.text({ nullable: true }) bridge: string | null;
  @Field.text({ nullable: true }) model: string | null;
}

/** A network configuration inside another record. */
@About('A reference to a network configuration.')
export class NetworkConfRef extends NetworkConfFields {
  @Field.id() network_conf_id: number;
  @Field.text({ description: 'Name of the network configuration, unique in the tenant' }) network_conf_name: string;
  @Field.object(() => AvailabilityZoneRef, { nullable: true }) availability_zone: AvailabilityZoneRef | null;
}

/** A network configuration without audit fields. */
export type NetworkConfData = Own<NetworkConf>;

/** Returns SQL for {@link NetworkConfData} as one jsonb value. */
export function networkConfJson(alias: string): string {
  return recordJson(alias, NetworkConf);
}

export function networkConfRef(data: NetworkConfData, referenceData: ReferenceData): NetworkConfRef {
  const zoneId = data.availability_zone_id;
  return {
    network_conf_id: data.network_conf_id,
    network_conf_name: data.name,
    ...fieldsOf(NetworkConfFields, data),
    availability_zone:
      zoneId === null ? null : requireRecord(referenceData.availabilityZone(zoneId), 'availability zone', zoneId),
  };
}
