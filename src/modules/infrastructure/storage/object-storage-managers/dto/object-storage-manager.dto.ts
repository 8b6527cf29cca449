import { IntersectionType } from '@nestjs/swagger';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageOrAllQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { CLOUD_PROVIDER_ALIASES } from '../../../../foundation/reference-data';
import { ObjectStorageManagerRef } from '../object-storage-managers.joins';
import { STORE_CLOUD_PROVIDERS } from '../store-providers';

export class ObjectStorageManagerSelector extends RecordSelectorQuery('object_storage_manager') {}

export class ObjectStorageManagerListQuery extends PageOrAllQuery {
  @Param.oneOf(STORE_CLOUD_PROVIDERS, {
    aliases: CLOUD_PROVIDER_ALIASES,
    description: 'Only records of this provider, ignoring case; Proxmox means OnPrem',
  })
  cloud_provider?: string;
}

export class ObjectStorageManagerSearchQuery extends ObjectStorageManagerListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' })
  object_storage_manager_name: string;
}

const CREDENTIALS = 'Must belong to the provider; OnPrem needs S3-compatible credentials';

@Example({
  name: 'example-store',
  cloud_provider_id: 3,
  credentials_conf_id: 2,
  object_storage_bucket_name: 'example-bucket',
})
@About('A bucket whose files users list, upload and download through the API.')
export class CreateObjectStorageManager {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.int32({ min: 0 }) cloud_provider_id: number;
  @Field.id({ description: CREDENTIALS }) credentials_conf_id: number;
  @Field.text({
    minLength: 1,
    maxLength: 255,
    description: 'Name of the bucket, or of the container in the storage account',
  })
  object_storage_bucket_name: string;
}

@Example({ description: 'Changed by an example' })
@About('Changes to an object storage manager; at least one. Absent fields keep their values.')
export class UpdateObjectStorageManager {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.id({ optional: true, description: CREDENTIALS }) credentials_conf_id?: number;
}

@About('An object storage manager: a bucket whose files users list, upload and download through the API.')
export class ObjectStorageManagerRead extends IntersectionType(ObjectStorageManagerRef, ReadAudit) {
  @Field.uuid() tenant_id: string;
}

@About('An object storage manager as returned by a write. Ids are decimal strings.')
export class ObjectStorageManagerWrite extends WriteAudit {
  @Field.idText() object_storage_manager_id: string;
  @Field.text({ description: 'Name of the object storage manager, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.idText() cloud_provider_id: string;
  @Field.idText() credentials_conf_id: string;
  @Field.text({ description: 'Name of the bucket, or of the container in the storage account' })
  object_storage_bucket_name: string;
  @Field.uuid() tenant_id: string;
}
