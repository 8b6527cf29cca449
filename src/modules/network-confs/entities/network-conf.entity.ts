import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col, CURRENT, ListIndex, PartOfNameIndex, TenantColumns } from '../../../platform/persistence/columns';

/** A network at one cloud provider; keys of other providers stay null. */
@Entity('network_confs')
@Unique('uq_network_confs_tenant_id', ['tenantId', 'networkConfId'])
@Index('uq_network_confs_name', ['tenantId', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_network_confs_list', ['tenantId', 'networkConfId', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_network_confs_name_part', 'name', { where: CURRENT })
export class NetworkConf extends TenantColumns {
  @Col.identity('network_conf_id', 'pk_network_confs') networkConfId: string;
  @Col.text('name') name: string;
  @Col.text('description', { nullable: true }) description: string | null;
  @ForeignKey('CloudProvider', { name: 'fk_network_confs_cloud_provider' })
  @Col.int('cloud_provider_id')
  cloudProviderId: number;
  @Col.text('network_project_id', { nullable: true }) networkProjectId: string | null;
  @Col.text('network_name', { nullable: true }) networkName: string | null;
  @Col.texts('network_tags', { default: () => `'{}'` }) networkTags: string[];
  @Col.text('subnet', { nullable: true }) subnet: string | null;
  @ForeignKey('AvailabilityZone', { name: 'fk_network_confs_availability_zone' })
  @Col.int('availability_zone_id', { nullable: true })
  availabilityZoneId: number | null;
  @Col.text('bridge', { nullable: true }) bridge: string | null;
  @Col.text('model', { nullable: true }) model: string | null;
}
