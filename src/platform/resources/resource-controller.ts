import { Body, Query, type Type } from '@nestjs/common';
import type { Access } from '../auth/access';
import type { TenantScope } from '../auth/principal';
import { CurrentScope } from '../auth/request-principal';
import type { Message } from '../http/answers';
import { declareOperation, type HandlerParameter } from '../http/declare-operation';
import { Answers } from '../http/operation';
import { type OperationOptions } from '../http/operation-options';
import type { Page, PageRequest } from '../http/page';
import type { RecordSelector } from '../http/selector';

interface SelectorQuery {
  selector(): RecordSelector;
}

/** What a resource's controller serves: paths, classes and access of its operations. */
export type ResourceRoutes<Create, Update, Read, Write, ListQuery, SearchQuery> = {
  /** Operation ids are made of these: `createVolumeConf`, `listVolumeConfs`. */
  one: string;
  many: string;
  /** For summaries: `volume configuration`. */
  label: string;
  tag: string;
  path: string;
  listPath: string;
  readAccess: Access;
  writeAccess: Access;
  selector: Type<SelectorQuery>;
  listQuery: Type<ListQuery>;
  create: Type<Create>;
  update: Type<Update>;
  read: Type<Read>;
  write: Type<Write>;
} & (SearchRoute<SearchQuery> | { searchQuery?: undefined });

/** Absent if the list itself accepts a part of the name. */
interface SearchRoute<SearchQuery> {
  searchQuery: Type<SearchQuery>;
  /** The text searched for. */
  partOfName: (query: SearchQuery) => string;
}

interface Service<Create, Update, Read, Write, ListQuery> {
  list(scope: TenantScope, query: ListQuery, partOfName?: string): Promise<Page<Read>>;
  get(scope: TenantScope, selector: RecordSelector): Promise<Read>;
  create(scope: TenantScope, body: Create): Promise<Write>;
  update(scope: TenantScope, selector: RecordSelector, body: Update): Promise<Write>;
  delete(scope: TenantScope, selector: RecordSelector): Promise<Message>;
}

/** Base class of a controller with list, create, get, update and delete of one resource, and usually search. */
export function ResourceController<
  Create extends object,
  Update extends object,
  Read extends object,
  Write extends object,
  ListQuery extends PageRequest,
  SearchQuery extends ListQuery,
>(routes: ResourceRoutes<Create, Update, Read, Write, ListQuery, SearchQuery>) {
  abstract class Controller {
    protected constructor(protected readonly service: Service<Create, Update, Read, Write, ListQuery>) {}

    list(scope: TenantScope, query: ListQuery): Promise<Page<Read>> {
      return this.service.list(scope, query);
    }

    search(scope: TenantScope, query: SearchQuery): Promise<Page<Read>> {
      return this.service.list(scope, query, routes.searchQuery && routes.partOfName(query));
    }

    create(scope: TenantScope, body: Create): Promise<Write> {
      return this.service.create(scope, body);
    }

    get(scope: TenantScope, query: SelectorQuery): Promise<Read> {
      return this.service.get(scope, query.selector());
    }

    update(scope: TenantScope, query: SelectorQuery, body: Update): Promise<Write> {
      return this.service.update(scope, query.selector(), body);
    }

    delete(scope: TenantScope, query: SelectorQuery): Promise<Message> {
      return this.service.delete(scope, query.selector());
    }
  }

  const scope = { decorate: CurrentScope(), type: Object };
  const declare = (
    method: keyof Controller,
    parameters: readonly HandlerParameter[],
    operation: Omit<OperationOptions, 'tag'>,
  ) => declareOperation(Controller.prototype, method, [scope, ...parameters], { ...operation, tag: routes.tag });
  const query = (type: Type<object>) => ({ decorate: Query(), type });
  const body = (type: Type<object>) => ({ decorate: Body(), type });
  const { one, many, label, path, listPath, readAccess, writeAccess } = routes;

  if (routes.searchQuery) {
    declare('search', [query(routes.searchQuery)], {
      method: 'GET',
      path: `${listPath}/search`,
      id: `search${many}`,
      summary: `Search the ${label}s by part of the name`,
      access: readAccess,
      answer: Answers.page(routes.read),
    });
  }
  declare('list', [query(routes.listQuery)], {
    method: 'GET',
    path: listPath,
    id: `list${many}`,
    summary: `List the ${label}s, newest first`,
    access: readAccess,
    answer: Answers.page(routes.read),
  });
  declare('create', [body(routes.create)], {
    method: 'POST',
    path,
    id: `create${one}`,
    summary: `Create a ${label}`,
    access: writeAccess,
    answer: Answers.one(routes.write),
    errors: [409],
  });
  declare('get', [query(routes.selector)], {
    method: 'GET',
    path,
    id: `get${one}`,
    summary: `Get a ${label} by id or name`,
    access: readAccess,
    answer: Answers.one(routes.read),
  });
  declare('update', [query(routes.selector), body(routes.update)], {
    method: 'PUT',
    path,
    id: `update${one}`,
    summary: `Update a ${label}`,
    access: writeAccess,
    answer: Answers.one(routes.write),
    status: 201,
    errors: [409],
  });
  declare('delete', [query(routes.selector)], {
    method: 'DELETE',
    path,
    id: `delete${one}`,
    summary: `Delete a ${label}`,
    access: writeAccess,
    answer: Answers.message,
    status: 201,
  });
  return Controller;
}
