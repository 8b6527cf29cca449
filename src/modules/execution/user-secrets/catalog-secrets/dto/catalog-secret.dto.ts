import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../../../platform/kernel/dto/selector';
import { CATALOG_TYPES, SECRET_TYPES, type SecretTypeName } from '../../../../foundation/reference-data';

/** Ids of the secrets in a request: null detaches, undefined leaves unchanged. */
export interface RequestedSecrets {
  metastore: number | null | undefined;
  storage: number | null | undefined;
}

const METASTORE = {
  optional: true,
  nullable: true,
  description:
    'Id of the secret for the metastore: required for DATABRICKS UNITY (a DATABRICKS UNITY TOKEN) and HIVE (HIVE KERBEROS or HIVE BASIC), not allowed for AWS GLUE; null for none',
};
const STORAGE = {
  optional: true,
  nullable: true,
  description:
    'Id of the secret for the object store: a key pair, service principal or service account, required for AWS GLUE; null for none',
};
const CHANGED_METASTORE = {
  ...METASTORE,
  description: 'As in a new attachment; null detaches the secret, and an absent field leaves it as it is',
};
const CHANGED_STORAGE = {
  ...STORAGE,
  description: 'As in a new attachment; null detaches the secret, and an absent field leaves it as it is',
};

export abstract class AttachSecrets {
  @Field.id() metastore_catalog_id: number;
  abstract secrets(): RequestedSecrets;
}

@Example({ metastore_catalog_id: 3, metastore_secrets_tenant_id: 1 })
@About('A catalog and the secrets of the tenant that open it.')
export class AttachTenantSecrets extends AttachSecrets {
  @Field.id(METASTORE) metastore_secrets_tenant_id?: number | null;
  @Field.id(STORAGE) object_storage_secrets_tenant_id?: number | null;

  secrets(): RequestedSecrets {
    return { metastore: this.metastore_secrets_tenant_id, storage: this.object_storage_secrets_tenant_id };
  }
}

@Example({ metastore_catalog_id: 3, metastore_secrets_workspace_id: 1 })
@About('A catalog and the secrets of a workspace that open it.')
export class AttachWorkspaceSecrets extends AttachSecrets {
  @Field.id(METASTORE) metastore_secrets_workspace_id?: number | null;
  @Field.id(STORAGE) object_storage_secrets_workspace_id?: number | null;

  secrets(): RequestedSecrets {
    return { metastore: this.metastore_secrets_workspace_id, storage: this.object_storage_secrets_workspace_id };
  }
}

@Example({ metastore_catalog_id: 3, metastore_secrets_user_id: 1 })
@About('A catalog and your own secrets that open it.')
export class AttachUserSecrets extends AttachSecrets {
  @Field.id(METASTORE) metastore_secrets_user_id?: number | null;
  @Field.id(STORAGE) object_storage_secrets_user_id?: number | null;

  secrets(): RequestedSecrets {
    return { metastore: this.metastore_secrets_user_id, storage: this.object_storage_secrets_user_id };
  }
}

export abstract class ChangeSecrets {
  abstract selector(): RecordSelector;
  abstract secrets(): RequestedSecrets;
}

@Example({ metastore_catalog_secret_tenant_id: 1, metastore_secrets_tenant_id: 1 })
@About('An attachment and the secrets of the tenant to attach instead.')
export class ChangeTenantSecrets extends ChangeSecrets {
  @Field.id() metastore_catalog_secret_tenant_id: number;
  @Field.id(CHANGED_METASTORE) metastore_secrets_tenant_id?: number | null;
  @Field.id(CHANGED_STORAGE) object_storage_secrets_tenant_id?: number | null;

  selector(): RecordSelector {
    return { id: this.metastore_catalog_secret_tenant_id };
  }

  secrets(): RequestedSecrets {
    return { metastore: this.metastore_secrets_tenant_id, storage: this.object_storage_secrets_tenant_id };
  }
}

@Example({ metastore_catalog_secret_workspace_id: 1, metastore_secrets_workspace_id: 1 })
@About('An attachment and the secrets of the workspace to attach instead.')
export class ChangeWorkspaceSecrets extends ChangeSecrets {
  @Field.id() metastore_catalog_secret_workspace_id: number;
  @Field.id(CHANGED_METASTORE) metastore_secrets_workspace_id?: number | null;
  @Field.id(CHANGED_STORAGE) object_storage_secrets_workspace_id?: number | null;

  selector(): RecordSelector {
    return { id: this.metastore_catalog_secret_workspace_id };
  }

  secrets(): RequestedSecrets {
    return { metastore: this.metastore_secrets_workspace_id, storage: this.object_storage_secrets_workspace_id };
  }
}

@Example({ metastore_catalog_secret_user_id: 1, metastore_secrets_user_id: 1 })
@About('An attachment and your own secrets to attach instead.')
export class ChangeUserSecrets extends ChangeSecrets {
  @Field.id() metastore_catalog_secret_user_id: number;
  @Field.id(CHANGED_METASTORE) metastore_secrets_user_id?: number | null;
  @Field.id(CHANGED_STORAGE) object_storage_secrets_user_id?: number | null;

  selector(): RecordSelector {
    return { id: this.metastore_catalog_secret_user_id };
  }

  secrets(): RequestedSecrets {
    return { metastore: this.metastore_secrets_user_id, storage: this.object_storage_secrets_user_id };
  }
}

export class TenantCatalogSecretSelector {
  @Param.id({ optional: false }) metastore_catalog_secret_tenant_id: number;

  selector(): RecordSelector {
    return { id: this.metastore_catalog_secret_tenant_id };
  }
}

export class WorkspaceCatalogSecretSelector {
  @Param.id({ optional: false }) metastore_catalog_secret_workspace_id: number;

  selector(): RecordSelector {
    return { id: this.metastore_catalog_secret_workspace_id };
  }
}

export class UserCatalogSecretSelector {
  @Param.id({ optional: false }) metastore_catalog_secret_user_id: number;

  selector(): RecordSelector {
    return { id: this.metastore_catalog_secret_user_id };
  }
}

export class CatalogSecretListQuery extends PageQuery {
  @Param.oneOf(CATALOG_TYPES, { description: 'Only attachments to catalogs of this type' }) catalog_type?: string;
  @Param.id({ description: 'Only the attachment to this catalog' }) metastore_catalog_id?: number;
  @Param.text({ description: 'Only attachments to catalogs whose name contains the text, ignoring case' })
  metastore_catalog_name?: string;
}

export class TenantCatalogSecretListQuery extends CatalogSecretListQuery {
  @Param.id() metastore_catalog_secret_tenant_id?: number;
}

/** The guard checks the caller's permission on the workspace. */
export class WorkspaceCatalogSecretListQuery extends CatalogSecretListQuery {
  @Param.id({
    description: 'Only attachments of this workspace; those of every workspace of the tenant if it is absent',
  })
  workspace_id?: number;
  @Param.id() metastore_catalog_secret_workspace_id?: number;
}

export class UserCatalogSecretListQuery extends CatalogSecretListQuery {
  @Param.id({ description: 'Only attachments of this user; only ADMIN and PLATFORM ADMIN see those of others' })
  user_id?: number;
  @Param.id() metastore_catalog_secret_user_id?: number;
}

const FOR_METASTORE = 'The secret for the metastore; null if there is none';
const FOR_STORE = 'The secret for the object store; null if there is none';

@About('The catalog that the secrets open.')
class CatalogOfSecret {
  @Field.id() metastore_catalog_id: number;
  @Field.text({ description: 'Name of the catalog' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.oneOf(CATALOG_TYPES, { description: 'Type of the metastore' }) catalog_type: string;
}

class SecretRef {
  @Field.text({ description: 'Name of the secret' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.oneOf(SECRET_TYPES, { description: 'Type of the secret' }) secret_type: SecretTypeName;
}

@About('A reference to a secret of the tenant.')
export class SecretRefTenant extends SecretRef {
  @Field.id({ description: 'Id of the secret' }) secrets_tenant_id: number;
}

@About('A reference to a secret of a workspace.')
export class SecretRefWorkspace extends SecretRef {
  @Field.id({ description: 'Id of the secret' }) secrets_workspace_id: number;
}

@About('A reference to a secret of a user.')
export class SecretRefUser extends SecretRef {
  @Field.id({ description: 'Id of the secret' }) secrets_user_id: number;
}

const DETAILS = { description: 'The details of the catalog' };

class CatalogSecretRead extends ReadAudit {
  @Field.object(() => CatalogOfSecret, { description: 'The catalog' }) metastore_catalog: CatalogOfSecret;
  @Field.map(DETAILS) metastore_details: object;
  @Field.uuid() tenant_id: string;
}

@About('An attachment: secrets of the tenant open a metastore catalog.')
export class CatalogSecretTenantRead extends CatalogSecretRead {
  @Field.id() metastore_catalog_secret_tenant_id: number;
  @Field.object(() => SecretRefTenant, { nullable: true, description: FOR_METASTORE })
  metastore_secrets_tenant: SecretRefTenant | null;
  @Field.object(() => SecretRefTenant, { nullable: true, description: FOR_STORE })
  object_storage_secrets_tenant: SecretRefTenant | null;
}

@About('An attachment: secrets of a workspace open a metastore catalog.')
export class CatalogSecretWorkspaceRead extends CatalogSecretRead {
  @Field.id() metastore_catalog_secret_workspace_id: number;
  @Field.object(() => SecretRefWorkspace, { nullable: true, description: FOR_METASTORE })
  metastore_secrets_workspace: SecretRefWorkspace | null;
  @Field.object(() => SecretRefWorkspace, { nullable: true, description: FOR_STORE })
  object_storage_secrets_workspace: SecretRefWorkspace | null;
}

@About('An attachment: secrets of a user open a metastore catalog.')
export class CatalogSecretUserRead extends CatalogSecretRead {
  @Field.id() metastore_catalog_secret_user_id: number;
  @Field.object(() => SecretRefUser, { nullable: true, description: FOR_METASTORE })
  metastore_secrets_user: SecretRefUser | null;
  @Field.object(() => SecretRefUser, { nullable: true, description: FOR_STORE })
  object_storage_secrets_user: SecretRefUser | null;
}

class CatalogSecretWrite extends WriteAudit {
  @Field.idText() metastore_catalog_id: string;
}

@About('An attachment of secrets of the tenant as returned by a write. Ids are decimal strings.')
export class CatalogSecretTenantWrite extends CatalogSecretWrite {
  @Field.idText() metastore_catalog_secret_tenant_id: string;
  @Field.idText({ nullable: true }) metastore_secrets_tenant_id: string | null;
  @Field.idText({ nullable: true }) object_storage_secrets_tenant_id: string | null;
}

@About('An attachment of secrets of a workspace as returned by a write. Ids are decimal strings.')
export class CatalogSecretWorkspaceWrite extends CatalogSecretWrite {
  @Field.idText() metastore_catalog_secret_workspace_id: string;
  @Field.idText({ nullable: true }) metastore_secrets_workspace_id: string | null;
  @Field.idText({ nullable: true }) object_storage_secrets_workspace_id: string | null;
}

@About('An attachment of secrets of a user as returned by a write. Ids are decimal strings.')
export class CatalogSecretUserWrite extends CatalogSecretWrite {
  @Field.idText() metastore_catalog_secret_user_id: string;
  @Field.idText({ nullable: true }) metastore_secrets_user_id: string | null;
  @Field.idText({ nullable: true }) object_storage_secrets_user_id: string | null;
}
