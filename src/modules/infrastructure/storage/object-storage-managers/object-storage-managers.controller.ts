import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import { ADMINS } from '../../../../platform/kernel/auth/roles';
import { ResourceController } from '../../../../platform/http/resources/resource-controller';
import {
  CreateObjectStorageManager,
  ObjectStorageManagerListQuery,
  ObjectStorageManagerRead,
  ObjectStorageManagerSearchQuery,
  ObjectStorageManagerSelector,
  ObjectStorageManagerWrite,
  UpdateObjectStorageManager,
} from './dto/object-storage-manager.dto';
import { ObjectStorageManagersService } from './object-storage-managers.service';

@Controller()
export class ObjectStorageManagersController extends ResourceController({
  one: 'ObjectStorageManager',
  many: 'ObjectStorageManagers',
  label: 'object storage manager',
  tag: 'Object storage',
  notes: {
    create:
      'The credentials must be of the provider. Whether the bucket exists is not checked until its files are listed.',
    update: 'Provider and bucket never change.',
    delete: 'Every cluster that uses it must be DESTROYED or in ERROR.',
  },
  path: '/object_storage_manager',
  listPath: '/object_storage_managers',
  readAccess: Allow.tenant(),
  writeAccess: Allow.tenant(ADMINS),
  selector: ObjectStorageManagerSelector,
  listQuery: ObjectStorageManagerListQuery,
  searchQuery: ObjectStorageManagerSearchQuery,
  partOfName: (query: ObjectStorageManagerSearchQuery) => query.object_storage_manager_name,
  create: CreateObjectStorageManager,
  update: UpdateObjectStorageManager,
  read: ObjectStorageManagerRead,
  write: ObjectStorageManagerWrite,
}) {
  constructor(service: ObjectStorageManagersService) {
    super(service);
  }
}
