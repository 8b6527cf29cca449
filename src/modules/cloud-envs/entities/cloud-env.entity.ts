import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col, CURRENT, ListIndex, PartOfNameIndex, TenantColumns } from '../../../platform/persistence/columns';

/** Where clusters run: provider, network, credentials and boot image, all of one provider. */
@Entity('cloud_envs')
@Unique('uq_cloud_envs_tenant_id', ['tenantId', 'cloudEnvId'])
@Index('uq_cloud_envs_name', ['tenantId', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_cloud_envs_list', ['tenantId', 'cloudEnvId', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_cloud_envs_name_part', 'name', { where: CURRENT })
@Index('ix_cloud_envs_network_conf', ['tenantId', 'networkConfId'])
@Index('ix_cloud_envs_credentials_conf', ['tenantId', 'credentialsConfId'])
@Index('ix_cloud_envs_boot_disk_image', ['tenantId', 'bootDiskImageId'])
@ForeignKey('NetworkConf', ['tenantId', 'networkConfId'], ['tenantId', 'networkConfId'], {
  name: 'fk_cloud_envs_network_conf',
})
@ForeignKey('CredentialsConf', ['tenantId', 'credentialsConfId'], ['tenantId', 'credentialsConfId'], {
  name: 'fk_cloud_envs_credentials_conf',
})
@ForeignKey('BootDiskImage', ['tenantId', 'bootDiskImageId'], ['tenantId', 'bootDiskImageId'], {
  name: 'fk_cloud_envs_boot_disk_image',
})
export class CloudEnv extends TenantColumns {
  @Col.identity('cloud_env_id', 'pk_cloud_envs') cloudEnvId: string;
  @Col.text('name') name: string;
  @Col.text('description', { nullable: true }) description: string | null;
  @ForeignKey('CloudProvider', { name: 'fk_cloud_envs_cloud_provider' })
  @Col.int('cloud_provider_id')
  cloudProviderId: number;
  @ForeignKey('AvailabilityZone', { name: 'fk_cloud_envs_availability_zone' })
  @Col.int('availability_zone_id', { nullable: true })
  availabilityZoneId: number | null;
  @Col.bigint('network_conf_id') networkConfId: string;
  @Col.text('cloud_project', { nullable: true }) cloudProject: string | null;
  @Col.bigint('credentials_conf_id') credentialsConfId: string;
  @Col.bigint('boot_disk_image_id') bootDiskImageId: string;
  /** The caller's and the reserved ones. */
  @Col.json('labels') labels: unknown;
  @Col.text('endpoint', { nullable: true }) endpoint: string | null;
  @Col.texts('onprem_node_names', { nullable: true }) onpremNodeNames: string[] | null;
}
