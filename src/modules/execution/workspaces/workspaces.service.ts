import { Injectable } from '@nestjs/common';
import {
  isTenantAdmin,
  type Principal,
  type TenantScope,
  type WorkspaceContext,
  type WorkspaceScope,
} from '../../../platform/kernel/auth/principal';
import type { WorkspaceAuthorizer, WorkspaceEntry } from '../../../platform/http/auth/authentication';
import { includesPermission, type WorkspacePermission } from '../../../platform/kernel/auth/roles';
import {
  conflict,
  type DomainError,
  forbidden,
  notFound,
  orRefusal,
} from '../../../platform/kernel/errors/domain-error';
import { idText, openEnded, readAudit, writeAudit } from '../../../platform/kernel/dto/response-fields';
import { assertChanges } from '../../../platform/http/changes';
import type { Page } from '../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../platform/kernel/dto/selector';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import type {
  CreateWorkspace,
  UpdateWorkspace,
  WorkspaceListQuery,
  WorkspaceRead,
  WorkspaceSearchQuery,
  WorkspaceWrite,
} from './dto/workspace.dto';
import { sharedWith } from './workspaces.joins';
import { type WorkspaceRow, WorkspacesRepository } from './workspaces.repository';

@Injectable()
export class WorkspacesService implements WorkspaceAuthorizer {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: WorkspacesRepository,
  ) {}

  /**
   * Authorizes a request. A workspace without a permission of the caller is a 403, as the contract requires; another
   * tenant's is a 404.
   */
  async authorize(
    principal: Principal & { tenantId: string },
    selector: RecordSelector,
    needed: WorkspacePermission,
  ): Promise<WorkspaceContext> {
    const scope = { tenantId: principal.tenantId, userId: principal.userId, username: principal.username };
    const row = await this.repository.get(scope, selector);
    if (isTenantAdmin(principal)) return { ...contextOf(row), permission: 'MANAGE' };
    const permission = assertHolds(await this.repository.permissionOf(row.workspace_id, principal.userId), needed);
    return { ...contextOf(row), permission };
  }

  async reauthorize(entries: readonly WorkspaceEntry[]): Promise<(WorkspaceContext | DomainError)[]> {
    const requested = entries.map(({ principal, workspaceId }) => ({ workspaceId, userId: principal.userId }));
    const found = new Map(
      (await this.repository.withPermissions(requested)).map((row) => [`${row.workspace_id} ${row.user_id}`, row]),
    );
    return entries.map(({ principal, workspaceId, needed }) =>
      orRefusal(() => {
        const row = found.get(`${workspaceId} ${principal.userId}`);
        if (row?.tenant_id !== principal.tenantId)
          throw notFound('WORKSPACE.NOT_FOUND', 'The workspace no longer exists.');
        if (!isTenantAdmin(principal)) assertHolds(row.held, needed);
        return contextOf(row);
      }),
    );
  }

  async list(
    scope: TenantScope,
    principal: Principal,
    query: WorkspaceListQuery | WorkspaceSearchQuery,
  ): Promise<Page<WorkspaceRead>> {
    const partOfName = 'workspace_name' in query ? query.workspace_name : undefined;
    const page = await this.repository.list(
      scope,
      query,
      (conditions) => {
        conditions.onlyEnabled(query.enable);
        if (!isTenantAdmin(principal)) sharedWith(principal.userId)(conditions);
      },
      partOfName,
    );
    return { ...page, data: page.data.map(read) };
  }

  async create(scope: TenantScope, body: CreateWorkspace): Promise<WorkspaceWrite> {
    return this.transactions.run(async (tx) => {
      const row = await this.repository.insert(tx, scope, { ...body });
      await this.repository.grantToUser(tx, row, scope.userId, 'MANAGE');
      return write(row);
    });
  }

  async get(scope: WorkspaceScope): Promise<WorkspaceRead> {
    return read(await this.repository.get(scope, { id: scope.workspace.workspaceId }));
  }

  async update(scope: WorkspaceScope, body: UpdateWorkspace): Promise<WorkspaceWrite> {
    assertChanges(body);
    return this.transactions.run(async (tx) =>
      write(await this.repository.update(tx, scope, scope.workspace.workspaceId, { ...body })),
    );
  }

  async enable(scope: WorkspaceScope): Promise<WorkspaceWrite> {
    return this.setActive(scope, true);
  }

  async disable(scope: WorkspaceScope): Promise<WorkspaceWrite> {
    return this.setActive(scope, false);
  }

  async describe(tx: Tx, scope: TenantScope, workspaceId: number, description: string): Promise<void> {
    await this.repository.describe(tx, workspaceId, description, scope.userId);
  }

  /** Locks the workspace against a concurrent disable; 409 if it is disabled. */
  async lockActive(tx: Tx, workspaceId: number): Promise<void> {
    const row = await this.repository.lock(tx, workspaceId);
    if (!row || openEnded(row.to_date) !== null) {
      throw conflict('WORKSPACE.DISABLED', `The workspace "${row?.name ?? workspaceId}" is disabled. Enable it first.`);
    }
  }

  private async setActive(scope: WorkspaceScope, active: boolean): Promise<WorkspaceWrite> {
    return this.transactions.run(async (tx) => {
      const row = await this.repository.get(scope, { id: scope.workspace.workspaceId }, tx, true);
      if ((openEnded(row.to_date) === null) === active) {
        const state = active ? 'enabled' : 'disabled';
        throw conflict('WORKSPACE.INVALID_STATE', `The workspace "${row.name}" is already ${state}.`);
      }
      await this.repository.setEnd(tx, scope, scope.workspace.workspaceId, active);
      return write(await this.repository.get(scope, { id: scope.workspace.workspaceId }, tx));
    });
  }
}

function assertHolds(held: WorkspacePermission | null, needed: WorkspacePermission): WorkspacePermission {
  if (held !== null && includesPermission(held, needed)) return held;
  const text = `This operation needs ${needed} on the workspace.`;
  throw forbidden('WORKSPACE.PERMISSION_REQUIRED', text, { needed, held });
}

function contextOf(row: WorkspaceRow): WorkspaceContext {
  return {
    workspaceId: row.workspace_id,
    name: row.name,
    description: row.description,
    active: openEnded(row.to_date) === null,
  };
}

function read(row: WorkspaceRow): WorkspaceRead {
  return {
    workspace_id: row.workspace_id,
    name: row.name,
    description: row.description,
    tenant_id: row.tenant_id,
    ...readAudit(row),
  };
}

function write(row: WorkspaceRow): WorkspaceWrite {
  return {
    workspace_id: idText(row.workspace_id),
    name: row.name,
    description: row.description,
    tenant_id: row.tenant_id,
    ...writeAudit(row),
  };
}
