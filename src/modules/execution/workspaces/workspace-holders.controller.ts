import { Query, type Type } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { WorkspaceContext, WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { InWorkspace } from '../../../platform/http/auth/request-principal';
import type { Message } from '../../../platform/kernel/dto/response-fields';
import { Responses, Operation } from '../../../platform/http/operation';
import type { ResponseShape } from '../../../platform/http/operation-options';
import { PageQuery, type PageRequest } from '../../../platform/kernel/dto/page';
import { BodyOf, documentId, IdParam, QueryOf, TextParam } from '../../../platform/http/parameters';
import { WorkspaceAccessQuery } from './dto/workspace-access.dto';
import type { HolderFilter, HolderKind } from './workspace-access.repository';
import type { WorkspaceAccessService } from './workspace-access.service';

/** The differences between the permissions of users and those of groups. */
export interface HolderRoutes<Assignment extends object> {
  kind: HolderKind;
  queries: {
    list: Type<PageQuery & ListQuery>;
    search: Type<PageQuery & ListQuery>;
    accessSearch: Type<PageQuery & ListQuery>;
    assignment: Type<Assignment>;
  };
  responses: { list: ResponseShape; match: ResponseShape; held: ResponseShape; assigned: ResponseShape };
  list: (
    access: WorkspaceAccessService,
    workspace: WorkspaceContext,
    page: PageRequest,
    filter: HolderFilter,
  ) => Promise<object>;
  match: (access: WorkspaceAccessService, workspace: WorkspaceContext, name: string) => Promise<object>;
  held: (access: WorkspaceAccessService, scope: WorkspaceScope, id: number) => Promise<object>;
  assign: (access: WorkspaceAccessService, scope: WorkspaceScope, body: Assignment) => Promise<object>;
}

interface ListQuery {
  permission_id?: number;
  group_id?: number;
  user_id?: number;
  username?: string;
  groupname?: string;
}

function filterOf({ permission_id, group_id, user_id, username, groupname }: ListQuery): HolderFilter {
  return { permissionId: permission_id, otherId: group_id ?? user_id, partOfName: username ?? groupname };
}

/**
 * Returns a base class of a controller with the nine operations on the permissions of users or groups in a workspace.
 */
export function WorkspaceHoldersController<Assignment extends object>(routes: HolderRoutes<Assignment>) {
  const { kind, queries, responses } = routes;
  const word = kind === 'user' ? 'User' : 'Group';
  const path = '/ac/workspace/{workspace_id}';
  const tag = 'Workspace access';
  const view = { method: 'GET', tag, access: Allow.workspace('VIEW') } as const;
  const manage = { tag, access: Allow.workspace('MANAGE') };
  const Scope = (): ParameterDecorator => (target, key, index) => {
    InWorkspace()(target, key, index);
    // Generated clients take parameters in the order of the document, which lists the last parameter of a handler
    // first.
    documentId('workspace_id', target, key);
  };

  abstract class Controller {
    protected constructor(private readonly access: WorkspaceAccessService) {}

    @Operation({
      ...view,
      path: `${path}/${kind}s`,
      id: `listWorkspace${word}s`,
      summary: `List the ${kind}s that hold a permission on the workspace, grouped by the strongest one`,
      description: `Returns the workspace with the ${kind}s that hold a permission on it, in one object for each permission: the strongest that they hold.`,
      response: responses.list,
    })
    list(@QueryOf(queries.list) query: PageQuery & ListQuery, @Scope() scope: WorkspaceScope): Promise<object> {
      return routes.list(this.access, scope.workspace, query, filterOf(query));
    }

    @Operation({
      ...view,
      path: `${path}/${kind}s/search`,
      id: `searchWorkspace${word}s`,
      summary: `Search the ${kind}s that hold a permission on the workspace by part of the name`,
      description: `Returns the workspace with the ${kind}s that hold a permission on it and whose name contains the text, ignoring case, in one object for each permission.`,
      response: responses.list,
    })
    search(@QueryOf(queries.search) query: PageQuery & ListQuery, @Scope() scope: WorkspaceScope): Promise<object> {
      return this.list(query, scope);
    }

    @Operation({
      ...view,
      path: `${path}/${kind}s/permission`,
      id: `listWorkspace${word}sAccess`,
      summary: `List the ${kind}s that hold a permission on the workspace, or those of one permission`,
      description: `Returns the workspace with the ${kind}s that hold any permission on it, or the one that permission_id names, in one object for each permission.`,
      response: responses.list,
    })
    listAccess(
      @QueryOf(WorkspaceAccessQuery) query: PageQuery & ListQuery,
      @Scope() scope: WorkspaceScope,
    ): Promise<object> {
      return this.list(query, scope);
    }

    @Operation({
      ...view,
      path: `${path}/${kind}s/permission/search`,
      id: `searchWorkspace${word}sAccess`,
      summary: `Search the ${kind}s that hold a permission on the workspace, or those of one permission, by part of the name`,
      description: `Returns the workspace with the ${kind}s that hold any permission on it, or the one that permission_id names, and whose name contains the text, ignoring case.`,
      response: responses.list,
    })
    searchAccess(
      @QueryOf(queries.accessSearch) query: PageQuery & ListQuery,
      @Scope() scope: WorkspaceScope,
    ): Promise<object> {
      return this.list(query, scope);
    }

    @Operation({
      ...view,
      path: `${path}/${kind}s/permission/{permission_id}`,
      id: `listWorkspace${word}sByPermission`,
      summary: `List the ${kind}s whose strongest permission on the workspace is this one`,
      description: `Returns the workspace with the ${kind}s whose strongest permission on it is the one in the path.`,
      response: responses.list,
    })
    listByPermission(
      @IdParam('permission_id') permissionId: number,
      @Query() query: PageQuery,
      @Scope() scope: WorkspaceScope,
    ): Promise<object> {
      return routes.list(this.access, scope.workspace, query, { permissionId });
    }

    @Operation({
      ...view,
      path: `${path}/${kind}/match/{${kind}name}`,
      id: `matchWorkspace${word}`,
      summary: `Find a ${kind} that holds a permission on the workspace by exact name`,
      description: `Returns the ${kind} with exactly this name. If no ${kind} with a permission on the workspace has it, the answer is 404.`,
      response: responses.match,
    })
    match(@TextParam(`${kind}name`) name: string, @Scope() scope: WorkspaceScope): Promise<object> {
      return routes.match(this.access, scope.workspace, name);
    }

    @Operation({
      ...view,
      path: `${path}/${kind}/{${kind}_id}/permission`,
      id: `getWorkspace${word}Permission`,
      summary:
        kind === 'user'
          ? 'Get the permissions of a user on the workspace: the effective one, the direct one, and those through groups'
          : 'Get the permission of a group on the workspace',
      description: `Returns the permission of one ${kind} on the workspace. For a ${kind} without a permission, the answer is 404.`,
      response: responses.held,
    })
    getPermission(@IdParam(`${kind}_id`) id: number, @Scope() scope: WorkspaceScope): Promise<object> {
      return routes.held(this.access, scope, id);
    }

    @Operation({
      ...manage,
      method: 'POST',
      path: `${path}/${kind}`,
      id: `assignWorkspace${word}Permission`,
      summary: `Assign a ${kind} of the tenant a permission on the workspace, in place of any other that it holds directly`,
      description: `The ${kind} must belong to the tenant. A ${kind} holds one permission directly: assigning another replaces it, and assigning the same one again is refused with 409. It applies from the next request on.`,
      response: responses.assigned,
      errors: [409],
    })
    assign(@BodyOf(queries.assignment) body: Assignment, @Scope() scope: WorkspaceScope): Promise<object> {
      return routes.assign(this.access, scope, body);
    }

    @Operation({
      ...manage,
      method: 'DELETE',
      path: `${path}/${kind}/{${kind}_id}/permission/{permission_id}`,
      id: `revokeWorkspace${word}Permission`,
      summary: `Revoke a permission on the workspace that a ${kind} holds directly`,
      description: `Removes the permission that the ${kind} holds directly. This applies from the next request on; permissions held through groups stay.`,
      response: Responses.message,
      status: 201,
    })
    revoke(
      @IdParam('permission_id') permissionId: number,
      @IdParam(`${kind}_id`) id: number,
      @Scope() scope: WorkspaceScope,
    ): Promise<Message> {
      return this.access.revoke(routes.kind, scope, id, permissionId);
    }
  }
  return Controller;
}
