import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col, CURRENT, ListIndex, PartOfNameIndex, TenantColumns } from '../../../platform/persistence/columns';

/** A path of an object store that jobs see as a directory, and the credentials that open it. */
@Entity('mounts')
@Unique('uq_mounts_tenant_id', ['tenantId', 'mountId'])
@Index('uq_mounts_name', ['tenantId', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_mounts_list', ['tenantId', 'mountId', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_mounts_name_part', 'name', { where: CURRENT })
@Index('uq_mounts_mount_point', ['tenantId', 'mountPoint'], { unique: true, where: CURRENT })
@Index('ix_mounts_credentials_conf', ['tenantId', 'credentialsConfId'])
@ForeignKey('CredentialsConf', ['tenantId', 'credentialsConfId'], ['tenantId', 'credentialsConfId'], {
  name: 'fk_mounts_credentials_conf',
})
export class Mount extends TenantColumns {
  @Col.identity('mount_id', 'pk_mounts') mountId: string;
  @Col.text('name') name: string;
  @ForeignKey('StorageType', { name: 'fk_mounts_storage_type' })
  @Col.int('storage_type_id')
  storageTypeId: number;
  @ForeignKey('EncryptionType', { name: 'fk_mounts_encryption_type' })
  @Col.int('encryption_type_id', { nullable: true })
  encryptionTypeId: number | null;
  @Col.text('source') source: string;
  @Col.text('mount_point') mountPoint: string;
  @Col.json('extra_configs', { nullable: true }) extraConfigs: unknown;
  @Col.bool('is_read_only') isReadOnly: boolean;
  @Col.bigint('credentials_conf_id') credentialsConfId: string;
}
