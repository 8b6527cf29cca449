import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col, CLOSED, CURRENT, TenantColumns } from '../../../../../platform/kernel/persistence/columns';

/**
 * The id by which the API knows a path of an object storage manager, given when it was first shown or uploaded. Only
 * the store knows whether there is a file.
 */
@Entity('object_storage_files')
@Unique('uq_object_storage_files_tenant_id', ['tenant_id', 'object_storage_file_id'])
@Index('uq_object_storage_files_path', ['tenant_id', 'object_storage_manager_id', 'path', 'is_dir'], {
  unique: true,
  where: CURRENT,
})
@Index('ix_object_storage_files_closed', ['to_date'], { where: CLOSED })
@ForeignKey(
  'ObjectStorageManager',
  ['tenant_id', 'object_storage_manager_id'],
  ['tenant_id', 'object_storage_manager_id'],
  {
    name: 'fk_object_storage_files_manager',
  },
)
export class ObjectStorageFile extends TenantColumns {
  @Col.identity('pk_object_storage_files') object_storage_file_id: number;
  @Col.bigint() object_storage_manager_id: number;
  /** Without leading slash; ordered by bytes, so that the contents of a directory are adjacent. */
  @Col.text({ collation: 'C' }) path: string;
  /** Stores let a file and a directory have one path. */
  @Col.bool() is_dir: boolean;
}
