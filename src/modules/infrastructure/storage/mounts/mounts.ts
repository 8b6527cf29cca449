import { ReadAudit } from '../../../../platform/kernel/dto/response-fields';
import { Field } from '../../../../platform/kernel/dto/fields';
import { CredentialConfRef } from '../../environments';
import { STORAGE_TYPES } from '../../../foundation/reference-data';

class MountStorageTypeRef {
  @Field.id() storage_type_id: number;
  @Field.oneOf(STORAGE_TYPES) name: string;
}

export class MountRead extends ReadAudit {
  @Field.id() mount_id: number;
  @Field.text() name: string;
  @Field.id() storage_type_id: number;
  @Field.object(() => MountStorageTypeRef) storage_type: MountStorageTypeRef;
  @Field.id({ nullable: true }) encryption_type_id: number | null;
  @Field.text() source: string;
  @Field.text() mount_point: string;
  @Field.map({ nullable: true }) extra_configs: Record<string, unknown> | null;
  @Field.boolean() is_read_only: boolean;
  @Field.id() credentials_config_id: number;
  @Field.object(() => CredentialConfRef) credentials_config: CredentialConfRef;
  @Field.uuid() tenant_id: string;
}
