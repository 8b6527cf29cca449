import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../../platform/http/resources/record-kind';

/** The environment that clusters run in: network, credentials and boot disk image of one cloud provider. */
@Entity('cloud_envs')
@Unique('uq_cloud_envs_tenant_id', ['tenant_id', 'cloud_env_id'])
@Index('uq_cloud_envs_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_cloud_envs_list', ['tenant_id', 'cloud_env_id', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_cloud_envs_name_part', 'name', { where: CURRENT })
@Index('ix_cloud_envs_network_conf', ['tenant_id', 'network_conf_id'])
@Index('ix_cloud_envs_credentials_conf', ['tenant_id', 'credentials_conf_id'])
@Index('ix_cloud_envs_boot_disk_image', ['tenant_id', 'boot_disk_image_id'])
@ForeignKey('NetworkConf', ['tenant_id', 'network_conf_id'], ['tenant_id', 'network_conf_id'], {
  name: 'fk_cloud_envs_network_conf',
})
@ForeignKey('CredentialsConf', ['tenant_id', 'credentials_conf_id'], ['tenant_id', 'credentials_conf_id'], {
  name: 'fk_cloud_envs_credentials_conf',
})
@ForeignKey('BootDiskImage', ['tenant_id', 'boot_disk_image_id'], ['tenant_id', 'boot_disk_image_id'], {
  name: 'fk_cloud_envs_boot_disk_image',
})
@RecordKind({ code: 'CLOUD_ENV', label: 'cloud environment' })
export class CloudEnv extends TenantColumns {
  @Col.identity('pk_cloud_envs') cloud_env_id: number;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
  @ForeignKey('CloudProvider', { name: 'fk_cloud_envs_cloud_provider' })
  @Col.int()
  cloud_provider_id: number;
  @ForeignKey('AvailabilityZone', { name: 'fk_cloud_envs_availability_zone' })
  @Col.int({ nullable: true })
  availability_zone_id: number | null;
  @Col.bigint() network_conf_id: number;
  @Col.text({ nullable: true }) cloud_project: string | null;
  @Col.bigint() credentials_conf_id: number;
  @Col.bigint() boot_disk_image_id: number;
  /** User labels and reserved labels. */
  @Col.json() labels: Record<string, string>;
  @Col.text({ nullable: true }) endpoint: string | null;
  @Col.texts({ nullable: true }) onprem_node_names: string[] | null;
}
