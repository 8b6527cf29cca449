import { Field } from '../../../../platform/kernel/dto/fields';
import { Example } from '../../../../platform/kernel/dto/schemas';
import {
  CATALOG_TYPES,
  type CatalogTypeName,
  SECRET_TYPES,
  type SecretTypeName,
} from '../../../foundation/reference-data';
import { SecretValues } from '../../../execution/user-secrets';

/** The size in bytes is limited separately when the file is parsed. */
const MAX_FILE_CHARACTERS = 262_144;

export class SecretDetails extends SecretValues {
  @Field.oneOf(SECRET_TYPES) secret_type: SecretTypeName;
}

/** An existing secret of the scope, or the values of a new one. */
export class ValidationSecret {
  @Field.id({ optional: true }) secret_id?: number;
  @Field.object(() => SecretDetails, { optional: true }) secret_details?: SecretDetails;
}

export class ValidationMetastoreDetails {
  @Field.text({ optional: true, minLength: 1, maxLength: 2048, description: 'URI of a directory, for storage secrets' })
  bucket_path?: string;

  @Field.text({ optional: true, minLength: 1, maxLength: 2048, description: 'URL of a Unity server' })
  endpoint?: string;

  @Field.text({ optional: true, minLength: 1, maxLength: MAX_FILE_CHARACTERS }) hiveSiteXml?: string;
  @Field.text({ optional: true, minLength: 1, maxLength: MAX_FILE_CHARACTERS }) krb5Conf?: string;
  @Field.oneOf(CATALOG_TYPES, { optional: true }) metastore_type?: CatalogTypeName;
}

/** An existing catalog, or the details of a new one. */
export class ValidationMetastore {
  @Field.id({ optional: true }) metastore_id?: number;
  @Field.object(() => ValidationMetastoreDetails, { optional: true }) metastore_details?: ValidationMetastoreDetails;
}

@Example({
  secret: { secret_details: { secret_type: 'DATABRICKS UNITY TOKEN', token: 'example' } },
  metastore: { metastore_details: { endpoint: 'https://unity.example.org' } },
})
export class ValidateSecret {
  @Field.object(() => ValidationSecret) secret: ValidationSecret;
  @Field.object(() => ValidationMetastore) metastore: ValidationMetastore;
}

class PermissionsSummary {
  @Field.boolean() list: boolean;
  @Field.boolean() read: boolean;
  @Field.boolean() write: boolean;
}

export class SecretValidation {
  @Field.oneOf(SECRET_TYPES) secret_type: SecretTypeName;
  @Field.oneOf(CATALOG_TYPES, { nullable: true }) metastore_type: CatalogTypeName | null;
  @Field.text({ description: '`VALID`, or `INVALID` with the reason in validation_message' }) validation_status: string;
  @Field.text({ description: 'What was tested, and the error of the provider for what failed' })
  validation_message: string;
  @Field.boolean({ description: 'true if an object was written, read and deleted' }) storage_access_verified: boolean;
  @Field.object(() => PermissionsSummary) permissions_summary: PermissionsSummary;
  @Field.timestamp() validated_at: Date;
}

@Example({ endpoint: 'https://unity.example.org', user_secret_id: 1 })
export class FetchUnityCatalogs {
  @Field.text({ minLength: 1, maxLength: 2048, description: 'URL of a Databricks workspace or of a Unity server' })
  endpoint: string;

  @Field.id({ description: 'One of your own secrets, of type DATABRICKS UNITY TOKEN' }) user_secret_id: number;
}
