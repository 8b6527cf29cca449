import type { WorkspaceScope } from '../../kernel/auth/principal';
import type { AuthorNames } from '../../kernel/dto/answers';
import type { TenantColumns } from '../../kernel/persistence/columns';
import type { Conditions } from '../../kernel/persistence/sql';
import { ResourceRepository } from './resource-repository';

/** Reads and writes the records of one kind that belong to workspaces: those of other workspaces do not exist here. */
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
