import { Body, Query, type Type } from '@nestjs/common';
import type { Access } from '../../kernel/auth/access';
import type { TenantScope } from '../../kernel/auth/principal';
import { CurrentScope } from '../auth/request-principal';
import type { Message } from '../../kernel/dto/answers';
import { declareOperation, type HandlerParameter } from '../declare-operation';
import { Answers } from '../operation';
import { type OperationOptions } from '../operation-options';
import type { Page, PageRequest } from '../../kernel/dto/page';
import type { RecordSelector } from '../../kernel/dto/selector';

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
  /** Several of them, if that is more than an s behind the label. */
  labels?: string;
  tag: string;
  path: string;
  listPath: string;
  readAccess: Access;
  writeAccess: Access;
  /** How requests name in what the records are, if that is less than the tenant. */
  place?: PlaceRoutes;
  /** Whether a single record can be read; true by default. */
  single?: boolean;
  /** What deleting can answer besides the usual statuses. */
  deleteErrors?: readonly number[];
  selector: Type<SelectorQuery>;
  listQuery: Type<ListQuery>;
  create: Type<Create>;
  update: Type<Update>;
  read: Type<Read>;
  write: Type<Write>;
} & (SearchRoute<SearchQuery> | { searchQuery?: undefined });

interface PlaceRoutes {
  /** Gives the handlers the scope of the service. */
  scope: ParameterDecorator;
  /** The query of a request for a new record; those of others name the place, too. */
  query: Type<object>;
}

/** Absent if the list itself accepts a part of the name. */
interface SearchRoute<SearchQuery> {
  searchQuery: Type<SearchQuery>;
  /** The text searched for. */
  partOfName: (query: SearchQuery) => string;
}

interface Service<Create, Update, Read, Write, ListQuery, Scope> {
  list(scope: Scope, query: ListQuery, partOfName?: string): Promise<Page<Read>>;
  get(scope: Scope, selector: RecordSelector): Promise<Read>;
  create(scope: Scope, body: Create): Promise<Write>;
  update(scope: Scope, selector: RecordSelector, body: Update): Promise<Write>;
  delete(scope: Scope, selector: RecordSelector): Promise<Message>;
}

/** Base class of a controller with list, create, update and delete of one resource, and usually search and get. */
export function ResourceController<
  Create extends object,
  Update extends object,
  Read extends object,
  Write extends object,
  ListQuery extends PageRequest,
  SearchQuery extends ListQuery,
  Scope extends TenantScope = TenantScope,
>(routes: ResourceRoutes<Create, Update, Read, Write, ListQuery, SearchQuery>) {
  abstract class Controller {
    protected constructor(protected readonly service: Service<Create, Update, Read, Write, ListQuery, Scope>) {}

    list(scope: Scope, query: ListQuery): Promise<Page<Read>> {
      return this.service.list(scope, query);
    }

    search(scope: Scope, query: SearchQuery): Promise<Page<Read>> {
      return this.service.list(scope, query, routes.searchQuery && routes.partOfName(query));
    }

    create(scope: Scope, body: Create): Promise<Write> {
      return this.service.create(scope, body);
    }

    get(scope: Scope, query: SelectorQuery): Promise<Read> {
      return this.service.get(scope, query.selector());
    }

    update(scope: Scope, query: SelectorQuery, body: Update): Promise<Write> {
      return this.service.update(scope, query.selector(), body);
    }

    delete(scope: Scope, query: SelectorQuery): Promise<Message> {
      return this.service.delete(scope, query.selector());
    }
  }

  const { one, many, label, labels = `${label}s`, path, listPath, readAccess, writeAccess, place } = routes;
  const article = /^[aeio]/.test(label) ? 'an' : 'a';
  const scope = { decorate: place?.scope ?? CurrentScope(), type: Object };
  const declare = (
    method: keyof Controller,
    parameters: readonly HandlerParameter[],
    operation: Omit<OperationOptions, 'tag'>,
  ) => declareOperation(Controller.prototype, method, [scope, ...parameters], { ...operation, tag: routes.tag });
  const query = (type: Type<object>) => ({ decorate: Query(), type });
  const body = (type: Type<object>) => ({ decorate: Body(), type });

  if (routes.searchQuery) {
    declare('search', [query(routes.searchQuery)], {
      method: 'GET',
      path: `${listPath}/search`,
      id: `search${many}`,
      summary: `Search the ${labels} by part of the name`,
      access: readAccess,
      answer: Answers.page(routes.read),
    });
  }
  declare('list', [query(routes.listQuery)], {
    method: 'GET',
    path: listPath,
    id: `list${many}`,
    summary: `List the ${labels}, newest first`,
    access: readAccess,
    answer: Answers.page(routes.read),
  });
  declare('create', [body(routes.create), ...(place ? [query(place.query)] : [])], {
    method: 'POST',
    path,
    id: `create${one}`,
    summary: `Create ${article} ${label}`,
    access: writeAccess,
    answer: Answers.one(routes.write),
    errors: [409],
  });
  if (routes.single ?? true) {
    declare('get', [query(routes.selector)], {
      method: 'GET',
      path,
      id: `get${one}`,
      summary: `Get ${article} ${label} by id or name`,
      access: readAccess,
      answer: Answers.one(routes.read),
    });
  }
  declare('update', [query(routes.selector), body(routes.update)], {
    method: 'PUT',
    path,
    id: `update${one}`,
    summary: `Update ${article} ${label}`,
    access: writeAccess,
    answer: Answers.one(routes.write),
    status: 201,
    errors: [409],
  });
  declare('delete', [query(routes.selector)], {
    method: 'DELETE',
    path,
    id: `delete${one}`,
    summary: `Delete ${article} ${label}`,
    access: writeAccess,
    answer: Answers.message,
    status: 201,
    errors: routes.deleteErrors ?? [],
  });
  return Controller;
}
