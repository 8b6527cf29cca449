import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../../platform/http/resources/record-kind';

/** A bucket of an object store with its credentials, both of one provider. */
@Entity('object_storage_managers')
@Unique('uq_object_storage_managers_tenant_id', ['tenant_id', 'object_storage_manager_id'])
@Index('uq_object_storage_managers_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_object_storage_managers_list', ['tenant_id', 'object_storage_manager_id', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_object_storage_managers_name_part', 'name', { where: CURRENT })
@Index('ix_object_storage_managers_credentials_conf', ['tenant_id', 'credentials_conf_id'])
@ForeignKey('CredentialsConf', ['tenant_id', 'credentials_conf_id'], ['tenant_id', 'credentials_conf_id'], {
  name: 'fk_object_storage_managers_credentials_conf',
})
@RecordKind({ code: 'OBJECT_STORAGE_MANAGER', label: 'object storage manager' })
export class ObjectStorageManager extends TenantColumns {
  @Col.identity('pk_object_storage_managers') object_storage_manager_id: number;
  @Col.text() name: string;
  @Col.text({ nullable: true }) description: string | null;
  @ForeignKey('CloudProvider', { name: 'fk_object_storage_managers_cloud_provider' })
  @Col.int()
  cloud_provider_id: number;
  @Col.bigint() credentials_conf_id: number;
  @Col.text() object_storage_bucket_name: string;
}
