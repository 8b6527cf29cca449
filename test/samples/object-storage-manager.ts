import type {
  CreateObjectStorageManager,
  UpdateObjectStorageManager,
} from '../../src/modules/infrastructure/storage/object-storage-managers/dto/object-storage-manager.dto';
import type { ObjectStorageManager } from '../../src/modules/infrastructure/storage/object-storage-managers/entities/object-storage-manager.entity';
import { REFERENCE } from './reference';
import { sample } from './sample';

/** A manager of a store that its credentials open. */
export const objectStorageManager = sample<
  CreateObjectStorageManager,
  UpdateObjectStorageManager,
  ObjectStorageManager,
  'credentials_conf_id'
>({
  path: '/object_storage_manager',
  body: ({ credentials_conf_id }) => ({
    cloud_provider_id: REFERENCE.cloud_provider_id,
    credentials_conf_id,
    object_storage_bucket_name: 'bucket',
  }),
  change: { description: 'changed' },
});
