import { Body, Query, type Type } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { WorkspaceContext, WorkspaceScope } from '../../../platform/kernel/auth/principal';
import { InWorkspace } from '../../../platform/http/auth/request-principal';
import type { Message } from '../../../platform/kernel/dto/answers';
import { declareOperation, type HandlerParameter } from '../../../platform/http/declare-operation';
import { Answers } from '../../../platform/http/operation';
import type { Answer, OperationOptions } from '../../../platform/http/operation-options';
import { PageQuery, type PageRequest } from '../../../platform/kernel/dto/page';
import { documentId, IdParam, TextParam } from '../../../platform/http/parameters';
import { WorkspaceAccessQuery } from './dto/workspace-access.dto';
import type { HolderFilter, HolderKind } from './workspace-access.repository';
import type { WorkspaceAccessService } from './workspace-access.service';

/** What differs between the permissions of users and those of groups. */
export interface HolderRoutes<Assignment extends object, List, Match, Held, Assigned> {
  kind: HolderKind;
  /** Operation ids are made with it: `listWorkspaceUsers`. */
  word: 'User' | 'Group';
  /** What a name is called in paths and queries. */
  nameParameter: 'username' | 'groupname';
  queries: {
    list: Type<PageQuery & ListQuery>;
    search: Type<PageQuery & ListQuery>;
    accessSearch: Type<PageQuery & ListQuery>;
    assignment: Type<Assignment>;
  };
  answers: { list: Answer; match: Answer; held: Answer; assigned: Answer };
  /** The work itself. */
  list: (access: WorkspaceAccessService, workspace: WorkspaceContext, page: PageRequest, filter: HolderFilter) => List;
  match: (access: WorkspaceAccessService, workspace: WorkspaceContext, name: string) => Match;
  held: (access: WorkspaceAccessService, scope: WorkspaceScope, id: number) => Held;
  assign: (access: WorkspaceAccessService, scope: WorkspaceScope, body: Assignment) => Assigned;
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

/** Base class of a controller with the nine operations on what users, or groups, may do in a workspace. */
export function WorkspaceHoldersController<Assignment extends object, List, Match, Held, Assigned>(
  routes: HolderRoutes<Assignment, List, Match, Held, Assigned>,
) {
  abstract class Controller {
    protected constructor(private readonly access: WorkspaceAccessService) {}

    list(scope: WorkspaceScope, query: PageQuery & ListQuery): List {
      return routes.list(this.access, scope.workspace, query, filterOf(query));
    }

    search(scope: WorkspaceScope, query: PageQuery & ListQuery): List {
      return this.list(scope, query);
    }

    listAccess(scope: WorkspaceScope, query: PageQuery & ListQuery): List {
      return this.list(scope, query);
    }

    searchAccess(scope: WorkspaceScope, query: PageQuery & ListQuery): List {
      return this.list(scope, query);
    }

    listByPermission(scope: WorkspaceScope, query: PageQuery, permissionId: number): List {
      return routes.list(this.access, scope.workspace, query, { permissionId });
    }

    match(scope: WorkspaceScope, name: string): Match {
      return routes.match(this.access, scope.workspace, name);
    }

    getPermission(scope: WorkspaceScope, id: number): Held {
      return routes.held(this.access, scope, id);
    }

    assign(scope: WorkspaceScope, body: Assignment): Assigned {
      return routes.assign(this.access, scope, body);
    }

    revoke(scope: WorkspaceScope, id: number, permissionId: number): Promise<Message> {
      return this.access.revoke(routes.kind, scope, id, permissionId);
    }
  }

  const { kind, word, nameParameter, queries, answers } = routes;
  const path = '/ac/workspace/{workspace_id}';
  const idOf = (name: string): HandlerParameter => ({ decorate: IdParam(name), type: Number });
  const query = (type: Type<PageQuery>): HandlerParameter => ({ decorate: Query(), type });
  const scope: HandlerParameter = {
    decorate: (target, key, index) => {
      InWorkspace()(target, key, index);
      // Generated clients take parameters in the order of the document, so this one must stay the first.
      documentId('workspace_id', target, key);
    },
    type: Object,
  };
  const declare = (
    method: keyof Controller,
    parameters: readonly HandlerParameter[],
    operation: Pick<OperationOptions, 'path' | 'id' | 'summary' | 'answer'> & Partial<OperationOptions>,
  ) =>
    declareOperation(Controller.prototype, method, [scope, ...parameters], {
      method: 'GET',
      tag: 'Workspace access',
      access: Allow.workspace(operation.method === undefined ? 'VIEW' : 'MANAGE'),
      ...operation,
      path: `${path}${operation.path}`,
    });

  declare('list', [query(queries.list)], {
    path: `/${kind}s`,
    id: `listWorkspace${word}s`,
    summary: `List the ${kind}s that hold a permission on the workspace, by their strongest`,
    answer: answers.list,
  });
  declare('search', [query(queries.search)], {
    path: `/${kind}s/search`,
    id: `searchWorkspace${word}s`,
    summary: `Search those ${kind}s by part of the name`,
    answer: answers.list,
  });
  declare('listAccess', [query(WorkspaceAccessQuery)], {
    path: `/${kind}s/permission`,
    id: `listWorkspace${word}sAccess`,
    summary: `List the ${kind}s that hold a permission on the workspace, or those of one permission`,
    answer: answers.list,
  });
  declare('searchAccess', [query(queries.accessSearch)], {
    path: `/${kind}s/permission/search`,
    id: `searchWorkspace${word}sAccess`,
    summary: `Search the ${kind}s of all permissions, or of one, by part of the name`,
    answer: answers.list,
  });
  declare('listByPermission', [query(PageQuery), idOf('permission_id')], {
    path: `/${kind}s/permission/{permission_id}`,
    id: `listWorkspace${word}sByPermission`,
    summary: `List the ${kind}s whose strongest permission on the workspace is this one`,
    answer: answers.list,
  });
  declare('match', [{ decorate: TextParam(nameParameter), type: String }], {
    path: `/${kind}/match/{${nameParameter}}`,
    id: `matchWorkspace${word}`,
    summary: `Find a ${kind} by its exact name among those that hold a permission on the workspace`,
    answer: answers.match,
  });
  declare('getPermission', [idOf(`${kind}_id`)], {
    path: `/${kind}/{${kind}_id}/permission`,
    id: `getWorkspace${word}Permission`,
    summary:
      kind === 'user'
        ? 'Get what a user may do in the workspace: the permission that counts, the own one, and those through groups'
        : 'Get the permission of a group on the workspace',
    answer: answers.held,
  });
  declare('assign', [{ decorate: Body(), type: queries.assignment }], {
    method: 'POST',
    path: `/${kind}`,
    id: `assignWorkspace${word}Permission`,
    summary: `Give a ${kind} of the tenant a permission on the workspace, in place of any other that it holds directly`,
    answer: answers.assigned,
    errors: [409],
  });
  declare('revoke', [idOf(`${kind}_id`), idOf('permission_id')], {
    method: 'DELETE',
    path: `/${kind}/{${kind}_id}/permission/{permission_id}`,
    id: `revokeWorkspace${word}Permission`,
    summary: `Take a permission on the workspace from a ${kind} that holds it directly`,
    answer: Answers.message,
    status: 201,
  });

  return Controller;
}
