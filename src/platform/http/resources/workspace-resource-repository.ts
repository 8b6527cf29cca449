import type { WorkspaceScope } from '../../kernel/auth/principal';
import type { AuthorNames } from '../../kernel/dto/response-fields';
import type { TenantColumns } from '../../kernel/persistence/columns';
import type { Conditions } from '../../kernel/persistence/sql';
import { ResourceRepository } from './resource-repository';

/** Reads and writes the records of one kind, always within a workspace. */
export class WorkspaceResourceRepository<
  E extends TenantColumns & { workspace_id: number },
  Row extends object = E & AuthorNames,
  Scope extends WorkspaceScope = WorkspaceScope,
> extends ResourceRepository<E, Row, Scope> {
  protected override within(scope: Scope): Conditions<E> {
    return super.within(scope).add('t.workspace_id = ?', scope.workspace.workspaceId);
  }

  protected override placeOf(scope: Scope): Partial<E> {
    return { ...super.placeOf(scope), workspace_id: scope.workspace.workspaceId };
  }

  protected override placeName({ workspace }: Scope): string {
    return ` in the workspace "${workspace.name}"`;
  }
}
