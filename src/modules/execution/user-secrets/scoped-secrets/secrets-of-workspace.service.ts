import { Injectable } from '@nestjs/common';
import type { TenantScope, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { idText } from '../../../../platform/kernel/dto/response-fields';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { References } from '../../../../platform/http/resources/references';
import { ReferenceData } from '../../../foundation/reference-data';
import { TenantSecretsService } from '../../../foundation/secrets';
import { WorkspacesService } from '../../workspaces';
import type {
  CreateSecret,
  WorkspaceSecretListQuery,
  WorkspaceSecretRead,
  WorkspaceSecretWrite,
  UpdateSecret,
} from './dto/scoped-secret.dto';
import type { WorkspaceSecret } from './entities/scoped-secret.entity';
import { SecretsOfWorkspaceRepository, type WorkspaceSecretRow } from './scoped-secrets.repository';
import { ScopedSecretsService } from './scoped-secrets.service';

/** Secrets of workspaces. Those of a disabled workspace can be listed but not changed. */
@Injectable()
export class SecretsOfWorkspaceService extends ScopedSecretsService<
  {
    entity: WorkspaceSecret;
    row: WorkspaceSecretRow;
    create: CreateSecret;
    update: UpdateSecret;
    read: WorkspaceSecretRead;
    write: WorkspaceSecretWrite;
    listQuery: WorkspaceSecretListQuery;
  },
  WorkspaceScope
> {
  constructor(
    transactions: Transactions,
    protected override readonly repository: SecretsOfWorkspaceRepository,
    referenceData: ReferenceData,
    references: References,
    secrets: TenantSecretsService,
    private readonly workspaces: WorkspacesService,
  ) {
    super(transactions, repository, referenceData, references, secrets);
  }

  /** Returns the workspace of a secret; throws a 404 if the tenant has no such secret. */
  async workspaceOf(tx: Tx, scope: TenantScope, id: number): Promise<number> {
    const workspaceId = await this.repository.workspaceOf(tx, scope, id);
    if (workspaceId !== null) return workspaceId;
    throw notFound('WORKSPACE_SECRET.NOT_FOUND', `There is no workspace secret with id ${id}.`);
  }

  protected override lockOwner(tx: Tx, { workspace }: WorkspaceScope): Promise<void> {
    return this.workspaces.lockActive(tx, workspace.workspaceId);
  }

  protected read(row: WorkspaceSecretRow): WorkspaceSecretRead {
    const { workspace_secret_id, workspace_id, workspace_name: name, workspace_description: description } = row;
    return { workspace_secret_id, ...this.readCommon(row), workspace: { workspace_id, name, description } };
  }

  protected write(row: WorkspaceSecretRow): WorkspaceSecretWrite {
    return { workspace_secret_id: idText(row.workspace_secret_id), ...this.writeCommon(row) };
  }
}
