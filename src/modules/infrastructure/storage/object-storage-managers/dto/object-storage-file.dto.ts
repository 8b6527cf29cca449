import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';
import { DownloadQuery } from '../../../../../platform/kernel/dto/download';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { ObjectStorageManagerSelector } from './object-storage-manager.dto';
import { ObjectStorageManagerRef } from '../object-storage-managers.joins';

/** Selects one file or directory of a manager by id or path. */
export class ObjectStorageFileSelector extends ObjectStorageManagerSelector {
  @Param.id() file_id?: number;
  @Param.text({ description: 'Path below the root, with or without a leading slash, or a full_file_path' })
  file_path?: string;
}

export class ObjectStorageDownloadQuery extends IntersectionType(ObjectStorageFileSelector, DownloadQuery) {}

export class ObjectStorageFileListQuery extends IntersectionType(ObjectStorageFileSelector, PageQuery) {
  @Param.boolean({ default: false, description: 'true also lists everything below' }) recursive: boolean = false;
}

export class ObjectStorageFileSearchQuery extends ObjectStorageFileListQuery {
  @Param.text({ optional: false, description: 'Part of the file name, ignoring case' }) file_name: string;
}

export class ObjectStorageUploadQuery extends ObjectStorageManagerSelector {
  @Param.text({ optional: false, description: 'Path of the file below target_dir, or below the root' }) path: string;
  @Param.text({ description: 'Directory that the path is relative to' }) target_dir?: string;
  @Param.boolean({ default: false, description: 'true replaces an existing file' }) overwrite: boolean = false;
  @Param.boolean({ default: false, description: 'true creates a directory; the request has no body' }) is_dir: boolean =
    false;
}

const SIZE = 'Decimal number; 0 for a directory';
const TYPE = 'File extension in lower case, or empty; "directory" for a directory';

@About('A file or directory of a bucket.')
export class ObjectStorageFileRead extends ReadAudit {
  @Field.id({ description: 'Id of the file or directory, which stays while it exists under its path' })
  object_storage_manager_file_id: number;
  @Field.object(() => ObjectStorageManagerRef, { description: 'The object storage manager' })
  object_storage_manager: ObjectStorageManagerRef;
  @Field.text({ description: 'Name of the file or directory, without its path' }) file_name: string;
  @Field.text() full_file_path: string;
  @Field.text({ description: SIZE }) file_size_bytes: string;
  @Field.text({ description: TYPE }) file_type: string;
  @Field.boolean() is_dir: boolean;
  @Field.id({ nullable: true, description: 'Id of the parent directory; null at the root' }) parent_id: number | null;
  @Field.uuid() tenant_id: string;
}

@About('A file or directory of a bucket after an upload. Ids are decimal strings.')
export class ObjectStorageFileWrite extends WriteAudit {
  @Field.idText({ description: 'Id of the file or directory, which stays while it exists under its path' })
  object_storage_manager_file_id: string;
  @Field.idText() object_storage_manager_id: string;
  @Field.text({ description: 'Name of the file or directory, without its path' }) file_name: string;
  @Field.text() full_file_path: string;
  @Field.text({ description: SIZE }) file_size_bytes: string;
  @Field.text({ description: TYPE }) file_type: string;
  @Field.boolean() is_dir: boolean;
  @Field.idText({ nullable: true, description: 'Id of the parent directory; null at the root' }) parent_id:
    | string
    | null;
  @Field.uuid() tenant_id: string;
}
