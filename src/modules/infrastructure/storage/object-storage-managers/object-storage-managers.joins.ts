import { Field } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { productName } from '../../../../platform/kernel/product/product-name';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { type Own, recordJson } from '../../../../platform/http/resources/record-json';
import {
  credentialConfRef,
  type CredentialsConfData,
  credentialsConfJson,
  CredentialTypeRef,
} from '../../environments';
import { CloudProviderRef, type ReferenceData } from '../../../foundation/reference-data';
import { ObjectStorageManager } from './entities/object-storage-manager.entity';

export {
  assertStoreCredentials,
  STORE_ACCESS,
  storeCloudProvider,
  type StoreCloudProviderName,
} from './store-providers';

/** Prefix of a file's full path, and of references to it in jobs. */
export function fileRoot(): string {
  return `file:///${productName().toLowerCase()}/object-storage-manager/`;
}

@About('The credentials of an object storage manager, without their values.')
export class ObjectStorageCredentialsRef {
  @Field.id() credentials_conf_id: number;
  @Field.text({ description: 'Name of the credentials, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.object(() => CredentialTypeRef) credential_type: CredentialTypeRef;
}

/** An object storage manager inside another record. */
@About('A reference to an object storage manager.')
export class ObjectStorageManagerRef {
  @Field.id() object_storage_manager_id: number;
  @Field.text({ description: 'Name of the object storage manager, unique in the tenant' })
  object_storage_manager_name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.object(() => CloudProviderRef) cloud_provider: CloudProviderRef;
  @Field.object(() => ObjectStorageCredentialsRef, { description: 'The credentials of the store' })
  credentials_config: ObjectStorageCredentialsRef;
  @Field.text({ description: 'Name of the bucket, or of the container in the storage account' })
  object_storage_bucket_name: string;
}

/** An object storage manager with its credentials, without audit fields. */
export type ObjectStorageManagerData = Own<ObjectStorageManager> & { credentials_conf: CredentialsConfData };

/**
 * Returns SQL for {@link ObjectStorageManagerData} as one jsonb value, or null if the record has no manager. Needs
 * {@link objectStorageManagerJoins} with the same aliases.
 */
export function objectStorageManagerJson(om = 'om', oc = 'oc'): string {
  const manager = recordJson(om, ObjectStorageManager, { nested: { credentials_conf: credentialsConfJson(oc) } });
  return `CASE WHEN ${om}.object_storage_manager_id IS NOT NULL THEN ${manager} END`;
}

/** Returns SQL that left-joins the manager of record `t` and the manager's credentials. */
export function objectStorageManagerJoins(om = 'om', oc = 'oc'): string {
  return `LEFT JOIN object_storage_managers ${om} ON ${om}.tenant_id = t.tenant_id
      AND ${om}.object_storage_manager_id = t.object_storage_manager_id
    LEFT JOIN credentials_confs ${oc} ON ${oc}.tenant_id = ${om}.tenant_id
      AND ${oc}.credentials_conf_id = ${om}.credentials_conf_id`;
}

export function objectStorageManagerRef(
  data: ObjectStorageManagerData,
  referenceData: ReferenceData,
): ObjectStorageManagerRef {
  const { cloud_provider_id: providerId } = data;
  const { credential_conf_id, ...credentials } = credentialConfRef(data.credentials_conf, referenceData);
  return {
    object_storage_manager_id: data.object_storage_manager_id,
    object_storage_manager_name: data.name,
    description: data.description,
    cloud_provider: requireRecord(referenceData.cloudProvider(providerId), 'cloud provider', providerId),
    credentials_config: { credentials_conf_id: credential_conf_id, ...credentials },
    object_storage_bucket_name: data.object_storage_bucket_name,
  };
}
