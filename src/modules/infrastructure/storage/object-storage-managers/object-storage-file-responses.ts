import { Injectable } from '@nestjs/common';
import type { StoreEntry } from '../../../../../libs/object-storage/object-store';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { fileType, nameOf } from '../../../../platform/kernel/files/file-path';
import { idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import { ReferenceData } from '../../../foundation/reference-data';
import type { ObjectStorageFileRead, ObjectStorageFileWrite } from './dto/object-storage-file.dto';
import { type FileIds, type FileKey, ObjectStorageFilesRepository } from './object-storage-files.repository';
import { objectStorageManagerRef } from './object-storage-managers.joins';
import type { ObjectStorageManagerRow } from './object-storage-managers.repository';
import { fullPathOf } from './object-storage-paths';

/** Builds responses from entries of the store and their ids in the database. */
@Injectable()
export class FileResponses {
  constructor(
    private readonly files: ObjectStorageFilesRepository,
    private readonly referenceData: ReferenceData,
  ) {}

  async read(
    scope: TenantScope,
    manager: ObjectStorageManagerRow,
    entries: readonly StoreEntry[],
  ): Promise<ObjectStorageFileRead[]> {
    const ids = await this.files.identify(scope, manager.object_storage_manager_id, entries.map(keyOf));
    const ref = objectStorageManagerRef(manager, this.referenceData);
    return entries.map((entry) => {
      const { parentId, row, ...described } = describe(entry, ids);
      return {
        object_storage_manager_file_id: row.object_storage_file_id,
        object_storage_manager: ref,
        ...described,
        parent_id: parentId,
        tenant_id: row.tenant_id,
        ...readAudit(row),
        last_update_date: entry.lastModified ?? row.last_update_date,
      };
    });
  }

  written(entry: StoreEntry, ids: FileIds): ObjectStorageFileWrite {
    const { parentId, row, ...described } = describe(entry, ids);
    return {
      object_storage_manager_file_id: idText(row.object_storage_file_id),
      object_storage_manager_id: idText(row.object_storage_manager_id),
      ...described,
      parent_id: idText(parentId),
      tenant_id: row.tenant_id,
      ...writeAudit(row),
      last_update_date: entry.lastModified ?? row.last_update_date,
    };
  }
}

export function keyOf({ path, kind }: StoreEntry): FileKey {
  return { path, isDir: kind === 'directory' };
}

function describe(entry: StoreEntry, ids: FileIds) {
  const key = keyOf(entry);
  const name = nameOf(entry.path);
  return {
    row: ids.rowOf(key),
    parentId: ids.parentIdOf(key),
    file_name: name,
    full_file_path: fullPathOf(entry.path),
    file_size_bytes: String(entry.sizeBytes),
    file_type: key.isDir ? 'directory' : (fileType(name) ?? ''),
    is_dir: key.isDir,
  };
}
