import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col, CLOSED, CURRENT, TenantColumns } from '../../../../../platform/kernel/persistence/columns';

/**
 * The id of a path of an object storage manager. The row is created when the path is first listed or uploaded; only the
 * store knows whether the file still exists.
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
  /** Has no leading slash. It is ordered by bytes, so that the contents of a directory are adjacent. */
  @Col.text({ collation: 'C' }) path: string;
  /** Part of the key, because stores allow a file and a directory with the same path. */
  @Col.bool() is_dir: boolean;
}
