import type { TenantScope, WorkspaceContext } from '../auth/principal';
import type { AuthorNames } from '../http/answers';
import type { TenantColumns } from '../persistence/columns';
import type { Conditions } from '../persistence/sql';
import { ResourceRepository } from './resource-repository';

/** A tenant's scope within one workspace, to which the guard has admitted the caller. */
export interface WorkspaceScope extends TenantScope {
  workspace: WorkspaceContext;
}

export function inWorkspace(scope: TenantScope, workspace: WorkspaceContext): WorkspaceScope {
  return { ...scope, workspace };
}

/** Reads and writes the records of one kind that belong to workspaces: those of another one are not there. */
export class WorkspaceResourceRepository<
  E extends TenantColumns & { workspace_id: number },
  Row extends object = E & AuthorNames,
> extends ResourceRepository<E, Row, WorkspaceScope> {
  protected override within(scope: WorkspaceScope): Conditions<E> {
    return super.within(scope).add('t.workspace_id = ?', scope.workspace.workspaceId);
  }

  protected override placeOf(scope: WorkspaceScope): Partial<E> {
    return { ...super.placeOf(scope), workspace_id: scope.workspace.workspaceId };
  }

  protected override placeName({ workspace }: WorkspaceScope): string {
    return ` in the workspace "${workspace.name}"`;
  }
}
