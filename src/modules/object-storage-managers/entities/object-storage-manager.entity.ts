import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col, CURRENT, ListIndex, PartOfNameIndex, TenantColumns } from '../../../platform/persistence/columns';

/** A bucket of an object store and the credentials that open it, both of one provider. */
@Entity('object_storage_managers')
@Unique('uq_object_storage_managers_tenant_id', ['tenantId', 'objectStorageManagerId'])
@Index('uq_object_storage_managers_name', ['tenantId', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_object_storage_managers_list', ['tenantId', 'objectStorageManagerId', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_object_storage_managers_name_part', 'name', { where: CURRENT })
@Index('ix_object_storage_managers_credentials_conf', ['tenantId', 'credentialsConfId'])
@ForeignKey('CredentialsConf', ['tenantId', 'credentialsConfId'], ['tenantId', 'credentialsConfId'], {
  name: 'fk_object_storage_managers_credentials_conf',
})
export class ObjectStorageManager extends TenantColumns {
  @Col.identity('object_storage_manager_id', 'pk_object_storage_managers') objectStorageManagerId: string;
  @Col.text('name') name: string;
  @Col.text('description', { nullable: true }) description: string | null;
  @ForeignKey('CloudProvider', { name: 'fk_object_storage_managers_cloud_provider' })
  @Col.int('cloud_provider_id')
  cloudProviderId: number;
  @Col.bigint('credentials_conf_id') credentialsConfId: string;
  @Col.text('object_storage_bucket_name') objectStorageBucketName: string;
}
