import { Entity, ForeignKey, Index, Unique } from 'typeorm';
import { Col, CLOSED, CURRENT, TenantColumns } from '../../../platform/persistence/columns';

/**
 * The id by which the API knows a path of an object storage manager, given when it was first shown or uploaded. Whether
 * there is a file only the store knows.
 */
@Entity('object_storage_files')
@Unique('uq_object_storage_files_tenant_id', ['tenantId', 'objectStorageFileId'])
@Index('uq_object_storage_files_path', ['tenantId', 'objectStorageManagerId', 'path', 'isDir'], {
  unique: true,
  where: CURRENT,
})
@Index('ix_object_storage_files_closed', ['toDate'], { where: CLOSED })
@ForeignKey('ObjectStorageManager', ['tenantId', 'objectStorageManagerId'], ['tenantId', 'objectStorageManagerId'], {
  name: 'fk_object_storage_files_manager',
})
export class ObjectStorageFile extends TenantColumns {
  @Col.identity('object_storage_file_id', 'pk_object_storage_files') objectStorageFileId: string;
  @Col.bigint('object_storage_manager_id') objectStorageManagerId: string;
  /** Without leading slash; in the order of its bytes, so that what lies in a directory lies together. */
  @Col.text('path', { collation: 'C' }) path: string;
  /** Stores let a file and a directory have one path. */
  @Col.bool('is_dir') isDir: boolean;
}
