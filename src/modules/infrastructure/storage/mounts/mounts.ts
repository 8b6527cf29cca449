import { ReadAudit } from '../../../../platform/kernel/dto/response-fields';
import { Field } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { CredentialConfRef } from '../../environments';
import { STORAGE_TYPES } from '../../../foundation/reference-data';

@About('The type of the store.')
class MountStorageTypeRef {
  @Field.id() storage_type_id: number;
  @Field.oneOf(STORAGE_TYPES, { description: 'Name of the storage type' }) name: string;
}

@About('A mount: a directory of a bucket that jobs see at a path.')
export class MountRead extends ReadAudit {
  @Field.id() mount_id: number;
  @Field.text({ description: 'Name of the mount, unique in the tenant' }) name: string;
  @Field.id() storage_type_id: number;
  @Field.object(() => MountStorageTypeRef, { description: 'The type of the store' }) storage_type: MountStorageTypeRef;
  @Field.id({ nullable: true }) encryption_type_id: number | null;
  @Field.text() source: string;
  @Field.text() mount_point: string;
  @Field.map({ nullable: true }) extra_configs: Record<string, unknown> | null;
  @Field.boolean() is_read_only: boolean;
  @Field.id({ description: 'Id of the credentials of the store' }) credentials_config_id: number;
  @Field.object(() => CredentialConfRef, { description: 'The credentials of the store' })
  credentials_config: CredentialConfRef;
  @Field.uuid() tenant_id: string;
}
