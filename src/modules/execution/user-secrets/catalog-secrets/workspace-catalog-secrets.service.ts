import { Injectable } from '@nestjs/common';
import { idText } from '../../../../platform/kernel/dto/response-fields';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { MetastoreCatalogsService } from '../../../infrastructure/metastores';
import { ReferenceData } from '../../../foundation/reference-data';
import { WorkspacesService } from '../../workspaces';
import { AttachedSecretsService } from './attached-secrets.service';
import {
  type AttachedSecret,
  type CatalogSecretRow,
  type LockedSecret,
  type OwnScope,
  WorkspaceCatalogSecretsRepository,
} from './catalog-secrets.repository';
import type {
  CatalogSecretWorkspaceRead,
  CatalogSecretWorkspaceWrite,
  SecretRefWorkspace,
  WorkspaceCatalogSecretListQuery,
} from './dto/catalog-secret.dto';
import type { WorkspaceCatalogSecret } from './entities/catalog-secret.entity';

/** Attachments of workspace secrets to catalogs. Those of a disabled workspace can be listed but not changed. */
@Injectable()
export class WorkspaceCatalogSecretsService extends AttachedSecretsService<
  WorkspaceCatalogSecret,
  { read: CatalogSecretWorkspaceRead; write: CatalogSecretWorkspaceWrite; listQuery: WorkspaceCatalogSecretListQuery },
  OwnScope
> {
  constructor(
    transactions: Transactions,
    protected override readonly repository: WorkspaceCatalogSecretsRepository,
    catalogs: MetastoreCatalogsService,
    referenceData: ReferenceData,
    private readonly workspaces: WorkspacesService,
  ) {
    super(transactions, repository, catalogs, referenceData);
  }

  protected override filter(query: WorkspaceCatalogSecretListQuery): ResourceFilter<WorkspaceCatalogSecret> {
    const [common, ofWorkspace] = [super.filter(query), this.repository.ofWorkspace(query.workspace_id)];
    return (conditions) => {
      common(conditions);
      ofWorkspace(conditions);
    };
  }

  /** The secrets determine the workspace. Only administrators attach them, and those need no permission on it. */
  protected async ownerOf(
    tx: Tx,
    _scope: OwnScope,
    secrets: readonly LockedSecret[],
    before: CatalogSecretRow<WorkspaceCatalogSecret> | null,
  ): Promise<Values<WorkspaceCatalogSecret>> {
    const workspace_id = before?.workspace_id ?? secrets[0]?.owner;
    const other = secrets.find(({ owner }) => owner !== workspace_id);
    if (other) throw this.repository.absentSecret(other.id);
    if (typeof workspace_id !== 'number') throw new Error('No secret determines the workspace of the attachment');
    await this.workspaces.lockActive(tx, workspace_id);
    return { workspace_id };
  }

  protected read(row: CatalogSecretRow<WorkspaceCatalogSecret>): CatalogSecretWorkspaceRead {
    const { metastore_catalog_secret_workspace_id } = row;
    return {
      metastore_catalog_secret_workspace_id,
      ...this.readCommon(row),
      metastore_secrets_workspace: this.ref(row.metastore_secret),
      object_storage_secrets_workspace: this.ref(row.storage_secret),
    };
  }

  protected write(row: CatalogSecretRow<WorkspaceCatalogSecret>): CatalogSecretWorkspaceWrite {
    return {
      metastore_catalog_secret_workspace_id: idText(row.metastore_catalog_secret_workspace_id),
      ...this.writeCommon(row),
      metastore_secrets_workspace_id: idText(row.metastore_secret_id),
      object_storage_secrets_workspace_id: idText(row.storage_secret_id),
    };
  }

  private ref(secret: AttachedSecret | null): SecretRefWorkspace | null {
    return secret && { secrets_workspace_id: secret.id, ...this.secretRef(secret) };
  }
}
