import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { type RecordSelector, RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { SECRET_TYPES, type SecretTypeName } from '../../../../foundation/reference-data';

/** Limit for all values of one secret together. */
export const MAX_SECRET_BYTES = 65_536;

const value = (description: string) =>
  Field.text({ optional: true, minLength: 1, maxLength: MAX_SECRET_BYTES, description });
const line = (description: string) => Field.line({ optional: true, filled: true, description });

/** The values of all secret types. A secret has those of its type. */
export class SecretValues {
  @line('HIVE KERBEROS: the Kerberos principal') principal?: string;
  @value('HIVE KERBEROS: a Base64-encoded keytab file') keytab?: string;
  @line('HIVE BASIC: the user name') username?: string;
  @value('HIVE BASIC: the password') password?: string;
  @value('DATABRICKS UNITY TOKEN: the token') token?: string;
  @value('ENVIRONMENT VARIABLE: the value') value?: string;
  @line('AWS ACCESS SECRET KEY PAIR: id of the access key') aws_access_key_id?: string;
  @value('AWS ACCESS SECRET KEY PAIR: the secret key') aws_secret_access_key?: string;
  @line('AWS ACCESS SECRET KEY PAIR: the region') aws_default_region?: string;
  @line('AZURE SERVICE PRINCIPAL: id of the directory at Azure, not a tenant of the platform') tenant_id?: string;
  @line('AZURE SERVICE PRINCIPAL: id of the subscription') subscription_id?: string;
  @line('AZURE SERVICE PRINCIPAL: id of the application; GOOGLE SERVICE ACCOUNT: id of the client') client_id?: string;
  @value('AZURE SERVICE PRINCIPAL: the secret of the application') client_secret?: string;
  @line('GOOGLE SERVICE ACCOUNT: type of the key file, service_account') type?: string;
  @line('GOOGLE SERVICE ACCOUNT: id of the project') project_id?: string;
  @line('GOOGLE SERVICE ACCOUNT: id of the private key') private_key_id?: string;
  @value('GOOGLE SERVICE ACCOUNT: the private key in PEM') private_key?: string;
  @line('GOOGLE SERVICE ACCOUNT: the address of the account') client_email?: string;
  @line('GOOGLE SERVICE ACCOUNT: auth_uri of the key file') auth_uri?: string;
  @line('GOOGLE SERVICE ACCOUNT: token_uri of the key file') token_uri?: string;
  @line('GOOGLE SERVICE ACCOUNT: the field of this name of the key file') auth_provider_x509_cert_url?: string;
  @line('GOOGLE SERVICE ACCOUNT: the field of this name of the key file') client_x509_cert_url?: string;
  @line('GOOGLE SERVICE ACCOUNT: required by the release of the API; the platform keeps it and does not use it')
  access_key?: string;
  @value('GOOGLE SERVICE ACCOUNT: required by the release of the API; the platform keeps it and does not use it')
  secret_key?: string;
  @line('GOOGLE SERVICE ACCOUNT: universe_domain of the key file, which may be absent') universe_domain?: string;
}

@Example({ name: 'example-secret', secret_type: 'DATABRICKS UNITY TOKEN', token: 'example' })
@About('A secret: the values of its type are fields beside its name.')
export class CreateSecret extends SecretValues {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.oneOf(SECRET_TYPES, { description: 'Determines which value fields are required; others are not allowed' })
  secret_type: SecretTypeName;
}

@Example({ secret_type: 'DATABRICKS UNITY TOKEN', token: 'changed by an example' })
@About('Changes to a secret; at least one. Absent fields keep their values.')
export class UpdateSecret extends SecretValues {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.oneOf(SECRET_TYPES, {
    description: 'The type of the secret, which cannot be changed. Send all of its value fields or none',
  })
  secret_type: SecretTypeName;
}

export class SecretListQuery extends PageQuery {
  @Param.oneOf(SECRET_TYPES, { description: 'Only secrets of this type' }) secret_type?: SecretTypeName;
}

export class TenantSecretListQuery extends SecretListQuery {
  @Param.id({ description: 'Only the secret with this id' }) tenant_secret_id?: number;
}

export class UserSecretListQuery extends SecretListQuery {
  @Param.id({ description: 'Only the secret with this id' }) user_secret_id?: number;
}

const OF_WORKSPACE = ['workspace_id', 'workspace_name'];

/** The guard checks the caller's permission on the workspace. */
class WorkspaceSecretsQuery extends SecretListQuery {
  @Param.id({
    description: 'Id of the workspace whose secrets are listed; this or workspace_name is required',
    oneIsRequired: OF_WORKSPACE,
  })
  workspace_id?: number;
  @Param.text({
    description: 'Name of the workspace whose secrets are listed, instead of its id',
    oneIsRequired: OF_WORKSPACE,
  })
  workspace_name?: string;
}

export class WorkspaceSecretListQuery extends WorkspaceSecretsQuery {
  @Param.id({ description: 'Only the secret with this id' }) workspace_secret_id?: number;
}

/** Query of searches for tenant secrets and for own secrets. */
export class SecretSearchQuery extends SecretListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) secret_name: string;
}

export class WorkspaceSecretSearchQuery extends WorkspaceSecretsQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) secret_name: string;
}

export class TenantSecretSelector {
  @Param.id({ optional: false, description: 'Id of the secret' }) tenant_secret_id: number;

  selector(): RecordSelector {
    return { id: this.tenant_secret_id };
  }
}

export class UserSecretSelector {
  @Param.id({ optional: false, description: 'Id of the secret' }) user_secret_id: number;

  selector(): RecordSelector {
    return { id: this.user_secret_id };
  }
}

/** The workspace in which a secret is created. */
export class WorkspaceOfSecretQuery extends RecordSelectorQuery('workspace') {}

export class WorkspaceSecretSelector extends WorkspaceOfSecretQuery {
  @Param.id({ optional: false, description: 'Id of the secret' }) workspace_secret_id: number;

  override selector(): RecordSelector {
    return { id: this.workspace_secret_id };
  }
}

class SecretRead extends ReadAudit {
  @Field.text({ description: 'Name of the secret, unique among those of its owner' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.oneOf(SECRET_TYPES, { description: 'Type of the secret. It never changes' }) secret_type: SecretTypeName;
}

class SecretWrite extends WriteAudit {
  @Field.text({ description: 'Name of the secret, unique among those of its owner' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.idText({ description: 'Id of the type of the secret; `listSecretTypes` lists them' })
  lookup_secret_type_id: string;
}

@About('The tenant that has the secret.')
export class TenantOfSecret {
  @Field.uuid() tenant_id: string;
  @Field.text({ description: 'Name of the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('A secret of a tenant, without its values.')
export class TenantSecretRead extends SecretRead {
  @Field.id({ description: 'Id of the secret' }) tenant_secret_id: number;
  @Field.object(() => TenantOfSecret, { description: 'The tenant' }) tenant: TenantOfSecret;
}

@About('A secret of a tenant as returned by a write, without its values. Ids are decimal strings.')
export class TenantSecretWrite extends SecretWrite {
  @Field.idText({ description: 'Id of the secret' }) tenant_secret_id: string;
  @Field.uuid() tenant_id: string;
}

@About('The workspace that has the secret.')
export class WorkspaceOfSecret {
  @Field.id() workspace_id: number;
  @Field.text({ description: 'Name of the workspace' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('A secret of a workspace, without its values.')
export class WorkspaceSecretRead extends SecretRead {
  @Field.id({ description: 'Id of the secret' }) workspace_secret_id: number;
  @Field.object(() => WorkspaceOfSecret) workspace: WorkspaceOfSecret;
}

@About('A secret of a workspace as returned by a write, without its values. Ids are decimal strings.')
export class WorkspaceSecretWrite extends SecretWrite {
  @Field.idText({ description: 'Id of the secret' }) workspace_secret_id: string;
}

@About('A secret of your own, without its values.')
export class UserSecretRead extends SecretRead {
  @Field.id({ description: 'Id of the secret' }) user_secret_id: number;
}

@About('A secret of your own as returned by a write, without its values. Ids are decimal strings.')
export class UserSecretWrite extends SecretWrite {
  @Field.idText({ description: 'Id of the secret' }) user_secret_id: string;
}
