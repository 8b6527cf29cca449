import { Field } from '../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../platform/kernel/dto/schemas';
import {
  CATALOG_TYPES,
  type CatalogTypeName,
  SECRET_TYPES,
  type SecretTypeName,
} from '../../../foundation/reference-data';
import { SecretValues } from '../../../execution/user-secrets';

/** The size in bytes is limited separately when the file is parsed. */
const MAX_FILE_CHARACTERS = 262_144;

@About('The values of a new secret: they are fields beside its type.')
export class SecretDetails extends SecretValues {
  @Field.oneOf(SECRET_TYPES, { description: 'Determines which value fields are required; others are not allowed' })
  secret_type: SecretTypeName;
}

/** An existing secret of the scope, or the values of a new one. */
@About('The secret to test: one that exists at that level, or a new one.', ['secret_id', 'secret_details'])
export class ValidationSecret {
  @Field.id({
    optional: true,
    description: 'Id of a secret that exists at that level',
  })
  secret_id?: number;
  @Field.object(() => SecretDetails, {
    optional: true,
    description: 'Values of a new secret',
  })
  secret_details?: SecretDetails;
}

@About('A metastore or store that has no catalog yet.')
export class ValidationMetastoreDetails {
  @Field.text({ optional: true, minLength: 1, maxLength: 2048, description: 'URI of a directory, for storage secrets' })
  bucket_path?: string;

  @Field.text({ optional: true, minLength: 1, maxLength: 2048, description: 'URL of a Unity server, for its tokens' })
  endpoint?: string;

  @Field.text({
    optional: true,
    minLength: 1,
    maxLength: MAX_FILE_CHARACTERS,
    description: 'Text of hive-site.xml, for secrets of Hive',
  })
  hiveSiteXml?: string;
  @Field.text({
    optional: true,
    minLength: 1,
    maxLength: MAX_FILE_CHARACTERS,
    description: 'Text of krb5.conf, for HIVE KERBEROS',
  })
  krb5Conf?: string;
  @Field.oneOf(CATALOG_TYPES, { optional: true, description: 'Type of the metastore' })
  metastore_type?: CatalogTypeName;
}

/** An existing catalog, or the details of a new one. */
@About('The metastore to test with: metastore_id of a catalog, or metastore_details of a new one.')
export class ValidationMetastore {
  @Field.id({ optional: true, description: 'Id of a metastore catalog, instead of metastore_details' })
  metastore_id?: number;
  @Field.object(() => ValidationMetastoreDetails, {
    optional: true,
    description: 'A metastore or store that has no catalog yet, instead of metastore_id',
  })
  metastore_details?: ValidationMetastoreDetails;
}

@Example({
  secret: { secret_details: { secret_type: 'DATABRICKS UNITY TOKEN', token: 'example' } },
  metastore: { metastore_details: { endpoint: 'https://unity.example.org' } },
})
@About('A secret, and the metastore or store to test it with.')
export class ValidateSecret {
  @Field.object(() => ValidationSecret, { description: 'The secret' }) secret: ValidationSecret;
  @Field.object(() => ValidationMetastore, { description: 'The metastore or store' }) metastore: ValidationMetastore;
}

@About('What the secret permits in the object store.')
class PermissionsSummary {
  @Field.boolean({ description: 'True if objects can be listed' }) list: boolean;
  @Field.boolean({ description: 'True if objects can be read' }) read: boolean;
  @Field.boolean({ description: 'True if objects can be written and deleted' }) write: boolean;
}

@About('Whether the secret gives access to the metastore or store.')
export class SecretValidation {
  @Field.oneOf(SECRET_TYPES, { description: 'Type of the secret' }) secret_type: SecretTypeName;
  @Field.oneOf(CATALOG_TYPES, { nullable: true, description: 'Type of the metastore; null for a store without one' })
  metastore_type: CatalogTypeName | null;
  @Field.text({ description: '`VALID`, or `INVALID` with the reason in validation_message' }) validation_status: string;
  @Field.text({ description: 'What was tested, and the error of the provider for what failed' })
  validation_message: string;
  @Field.boolean({ description: 'true if an object was written, read and deleted' }) storage_access_verified: boolean;
  @Field.object(() => PermissionsSummary, { description: 'What the secret permits in the object store' })
  permissions_summary: PermissionsSummary;
  @Field.timestamp({ description: 'When the secret was tested' }) validated_at: Date;
}

@Example({ endpoint: 'https://unity.example.org', user_secret_id: 1 })
@About('A Unity server and one of your own secrets for it.')
export class FetchUnityCatalogs {
  @Field.text({ minLength: 1, maxLength: 2048, description: 'URL of a Databricks workspace or of a Unity server' })
  endpoint: string;

  @Field.id({ description: 'One of your own secrets, of type DATABRICKS UNITY TOKEN' }) user_secret_id: number;
}
