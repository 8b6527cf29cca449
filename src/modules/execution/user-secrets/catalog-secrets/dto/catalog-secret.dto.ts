import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { Example } from '../../../../../platform/kernel/dto/schemas';
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
    'Required for DATABRICKS UNITY (a DATABRICKS UNITY TOKEN) and HIVE (HIVE KERBEROS or HIVE BASIC); not allowed for AWS GLUE',
};
const STORAGE = {
  optional: true,
  nullable: true,
  description: 'A key pair, service principal or service account; required for AWS GLUE',
};
const CHANGED_METASTORE = {
  ...METASTORE,
  description: 'Like on attaching; null detaches it, absent leaves it unchanged',
};
const CHANGED_STORAGE = { ...STORAGE, description: 'Like on attaching; null detaches it, absent leaves it unchanged' };

export abstract class AttachSecrets {
  @Field.id() metastore_catalog_id: number;
  abstract secrets(): RequestedSecrets;
}

@Example({ metastore_catalog_id: 3, metastore_secrets_tenant_id: 1 })
export class AttachTenantSecrets extends AttachSecrets {
  @Field.id(METASTORE) metastore_secrets_tenant_id?: number | null;
  @Field.id(STORAGE) object_storage_secrets_tenant_id?: number | null;

  secrets(): RequestedSecrets {
    return { metastore: this.metastore_secrets_tenant_id, storage: this.object_storage_secrets_tenant_id };
  }
}

@Example({ metastore_catalog_id: 3, metastore_secrets_workspace_id: 1 })
export class AttachWorkspaceSecrets extends AttachSecrets {
  @Field.id(METASTORE) metastore_secrets_workspace_id?: number | null;
  @Field.id(STORAGE) object_storage_secrets_workspace_id?: number | null;

  secrets(): RequestedSecrets {
    return { metastore: this.metastore_secrets_workspace_id, storage: this.object_storage_secrets_workspace_id };
  }
}

@Example({ metastore_catalog_id: 3, metastore_secrets_user_id: 1 })
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
  @Param.oneOf(CATALOG_TYPES) catalog_type?: string;
  @Param.id() metastore_catalog_id?: number;
  @Param.text({ description: 'Part of the name, case-insensitive' }) metastore_catalog_name?: string;
}

export class TenantCatalogSecretListQuery extends CatalogSecretListQuery {
  @Param.id() metastore_catalog_secret_tenant_id?: number;
}

/** The guard checks the caller's permission on the workspace. */
export class WorkspaceCatalogSecretListQuery extends CatalogSecretListQuery {
  @Param.id() workspace_id?: number;
  @Param.id() metastore_catalog_secret_workspace_id?: number;
}

export class UserCatalogSecretListQuery extends CatalogSecretListQuery {
  @Param.id({ description: 'Only ADMIN and PLATFORM ADMIN see attachments of other users' }) user_id?: number;
  @Param.id() metastore_catalog_secret_user_id?: number;
}

class CatalogOfSecret {
  @Field.id() metastore_catalog_id: number;
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.oneOf(CATALOG_TYPES) catalog_type: string;
}

class SecretRef {
  @Field.text() name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.oneOf(SECRET_TYPES) secret_type: SecretTypeName;
}

export class SecretRefTenant extends SecretRef {
  @Field.id() secrets_tenant_id: number;
}

export class SecretRefWorkspace extends SecretRef {
  @Field.id() secrets_workspace_id: number;
}

export class SecretRefUser extends SecretRef {
  @Field.id() secrets_user_id: number;
}

const DETAILS = { description: 'The details of the catalog' };

class CatalogSecretRead extends ReadAudit {
  @Field.object(() => CatalogOfSecret) metastore_catalog: CatalogOfSecret;
  @Field.map(DETAILS) metastore_details: object;
  @Field.uuid() tenant_id: string;
}

export class CatalogSecretTenantRead extends CatalogSecretRead {
  @Field.id() metastore_catalog_secret_tenant_id: number;
  @Field.object(() => SecretRefTenant, { nullable: true }) metastore_secrets_tenant: SecretRefTenant | null;
  @Field.object(() => SecretRefTenant, { nullable: true }) object_storage_secrets_tenant: SecretRefTenant | null;
}

export class CatalogSecretWorkspaceRead extends CatalogSecretRead {
  @Field.id() metastore_catalog_secret_workspace_id: number;
  @Field.object(() => SecretRefWorkspace, { nullable: true }) metastore_secrets_workspace: SecretRefWorkspace | null;
  @Field.object(() => SecretRefWorkspace, { nullable: true })
  object_storage_secrets_workspace: SecretRefWorkspace | null;
}

export class CatalogSecretUserRead extends CatalogSecretRead {
  @Field.id() metastore_catalog_secret_user_id: number;
  @Field.object(() => SecretRefUser, { nullable: true }) metastore_secrets_user: SecretRefUser | null;
  @Field.object(() => SecretRefUser, { nullable: true }) object_storage_secrets_user: SecretRefUser | null;
}

class CatalogSecretWrite extends WriteAudit {
  @Field.idText() metastore_catalog_id: string;
}

export class CatalogSecretTenantWrite extends CatalogSecretWrite {
  @Field.idText() metastore_catalog_secret_tenant_id: string;
  @Field.idText({ nullable: true }) metastore_secrets_tenant_id: string | null;
  @Field.idText({ nullable: true }) object_storage_secrets_tenant_id: string | null;
}

export class CatalogSecretWorkspaceWrite extends CatalogSecretWrite {
  @Field.idText() metastore_catalog_secret_workspace_id: string;
  @Field.idText({ nullable: true }) metastore_secrets_workspace_id: string | null;
  @Field.idText({ nullable: true }) object_storage_secrets_workspace_id: string | null;
}

export class CatalogSecretUserWrite extends CatalogSecretWrite {
  @Field.idText() metastore_catalog_secret_user_id: string;
  @Field.idText({ nullable: true }) metastore_secrets_user_id: string | null;
  @Field.idText({ nullable: true }) object_storage_secrets_user_id: string | null;
}
