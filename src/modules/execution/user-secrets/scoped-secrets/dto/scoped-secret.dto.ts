import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { Example } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { type RecordSelector, RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { SECRET_TYPES, type SecretTypeName } from '../../../../foundation/reference-data';

/** Limit for all values of one secret together. */
export const MAX_SECRET_BYTES = 65_536;

const value = (description?: string) =>
  Field.text({ optional: true, minLength: 1, maxLength: MAX_SECRET_BYTES, description });
const line = () => Field.line({ optional: true, filled: true });

/** The values of all secret types. A secret has those of its type. */
export class SecretValues {
  @line() principal?: string;
  @value('Base64 of a keytab file') keytab?: string;
  @line() username?: string;
  @value() password?: string;
  @value() token?: string;
  @value() value?: string;
  @line() aws_access_key_id?: string;
  @value() aws_secret_access_key?: string;
  @line() aws_default_region?: string;
  @line() tenant_id?: string;
  @line() subscription_id?: string;
  @line() client_id?: string;
  @value() client_secret?: string;
  @line() type?: string;
  @line() project_id?: string;
  @line() private_key_id?: string;
  @value() private_key?: string;
  @line() client_email?: string;
  @line() auth_uri?: string;
  @line() token_uri?: string;
  @line() auth_provider_x509_cert_url?: string;
  @line() client_x509_cert_url?: string;
  @line() access_key?: string;
  @value() secret_key?: string;
  @line() universe_domain?: string;
}

@Example({ name: 'example-secret', secret_type: 'DATABRICKS UNITY TOKEN', token: 'example' })
export class CreateSecret extends SecretValues {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.oneOf(SECRET_TYPES, { description: 'Determines which value fields are required; others are not allowed' })
  secret_type: SecretTypeName;
}

@Example({ secret_type: 'DATABRICKS UNITY TOKEN', token: 'changed by an example' })
export class UpdateSecret extends SecretValues {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.oneOf(SECRET_TYPES, {
    description: 'The type of the secret, which cannot be changed. Send all of its value fields or none',
  })
  secret_type: SecretTypeName;
}

export class SecretListQuery extends PageQuery {
  @Param.oneOf(SECRET_TYPES) secret_type?: SecretTypeName;
}

export class TenantSecretListQuery extends SecretListQuery {
  @Param.id() tenant_secret_id?: number;
}

export class UserSecretListQuery extends SecretListQuery {
  @Param.id() user_secret_id?: number;
}

/** The guard checks the caller's permission on the workspace. */
class WorkspaceSecretsQuery extends SecretListQuery {
  @Param.id() workspace_id?: number;
  @Param.text() workspace_name?: string;
}

export class WorkspaceSecretListQuery extends WorkspaceSecretsQuery {
  @Param.id() workspace_secret_id?: number;
}

/** Query of searches for tenant secrets and for own secrets. */
export class SecretSearchQuery extends SecretListQuery {
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' }) secret_name: string;
}

export class WorkspaceSecretSearchQuery extends WorkspaceSecretsQuery {
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' }) secret_name: string;
}

export class TenantSecretSelector {
  @Param.id({ optional: false }) tenant_secret_id: number;

  selector(): RecordSelector {
    return { id: this.tenant_secret_id };
  }
}

export class UserSecretSelector {
  @Param.id({ optional: false }) user_secret_id: number;

  selector(): RecordSelector {
    return { id: this.user_secret_id };
  }
}

/** The workspace in which a secret is created. */
export class WorkspaceOfSecretQuery extends RecordSelectorQuery('workspace') {}

export class WorkspaceSecretSelector extends WorkspaceOfSecretQuery {
  @Param.id({ optional: false }) workspace_secret_id: number;

  override selector(): RecordSelector {
    return { id: this.workspace_secret_id };
  }
}

class SecretRead extends ReadAudit {
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.oneOf(SECRET_TYPES) secret_type: SecretTypeName;
}

class SecretWrite extends WriteAudit {
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.idText() lookup_secret_type_id: string;
}

export class TenantOfSecret {
  @Field.uuid() tenant_id: string;
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class TenantSecretRead extends SecretRead {
  @Field.id() tenant_secret_id: number;
  @Field.object(() => TenantOfSecret) tenant: TenantOfSecret;
}

export class TenantSecretWrite extends SecretWrite {
  @Field.idText() tenant_secret_id: string;
  @Field.uuid() tenant_id: string;
}

export class WorkspaceOfSecret {
  @Field.id() workspace_id: number;
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class WorkspaceSecretRead extends SecretRead {
  @Field.id() workspace_secret_id: number;
  @Field.object(() => WorkspaceOfSecret) workspace: WorkspaceOfSecret;
}

export class WorkspaceSecretWrite extends SecretWrite {
  @Field.idText() workspace_secret_id: string;
}

export class UserSecretRead extends SecretRead {
  @Field.id() user_secret_id: number;
}

export class UserSecretWrite extends SecretWrite {
  @Field.idText() user_secret_id: string;
}
