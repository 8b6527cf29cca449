import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import {
  Col,
  CURRENT,
  ListIndex,
  PartOfNameIndex,
  TenantColumns,
} from '../../../../../platform/kernel/persistence/columns';
import { RecordKind } from '../../../../../platform/http/resources/record-kind';

/** A directory of an object store that jobs access by a path, with its credentials. */
@Entity('mounts')
@Unique('uq_mounts_tenant_id', ['tenant_id', 'mount_id'])
@Index('uq_mounts_name', ['tenant_id', 'name'], { unique: true, where: CURRENT })
@ListIndex('ix_mounts_list', ['tenant_id', 'mount_id', 'name'], { where: CURRENT })
@PartOfNameIndex('ix_mounts_name_part', 'name', { where: CURRENT })
@Index('uq_mounts_mount_point', ['tenant_id', 'mount_point'], { unique: true, where: CURRENT })
@Index('ix_mounts_credentials_conf', ['tenant_id', 'credentials_conf_id'])
@ForeignKey('CredentialsConf', ['tenant_id', 'credentials_conf_id'], ['tenant_id', 'credentials_conf_id'], {
  name: 'fk_mounts_credentials_conf',
})
@RecordKind({ code: 'MOUNT', label: 'mount' })
export class Mount extends TenantColumns {
  @Col.identity('pk_mounts') mount_id: number;
  @Col.text() name: string;
  @ForeignKey('StorageType', { name: 'fk_mounts_storage_type' })
  @Col.int()
  storage_type_id: number;
  @ForeignKey('EncryptionType', { name: 'fk_mounts_encryption_type' })
  @Col.int({ nullable: true })
  encryption_type_id: number | null;
  @Col.text() source: string;
  @Col.text() mount_point: string;
  @Col.json({ nullable: true }) extra_configs: Record<string, unknown> | null;
  @Col.bool() is_read_only: boolean;
  @Col.bigint() credentials_conf_id: number;
}
