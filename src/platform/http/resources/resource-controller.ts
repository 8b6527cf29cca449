import type { Type } from '@nestjs/common';
import type { Access } from '../../kernel/auth/access';
import type { TenantScope } from '../../kernel/auth/principal';
import { CurrentScope } from '../auth/request-principal';
import type { Message } from '../../kernel/dto/response-fields';
import { NoQuery } from '../no-query';
import { Responses, Operation } from '../operation';
import type { OperationOptions } from '../operation-options';
import type { Page, PageRequest } from '../../kernel/dto/page';
import { BodyOf, QueryOf } from '../parameters';
import type { RecordSelector } from '../../kernel/dto/selector';

interface SelectorQuery {
  selector(): RecordSelector;
}

/** Paths, classes and access of a resource's operations. */
export interface ResourceRoutes {
  /** Names for operation ids: `createVolumeConf`, `listVolumeConfs`. */
  one: string;
  many: string;
  /** Name for summaries: `volume configuration`. */
  label: string;
  /** The plural, if it is not the label with an s. */
  labels?: string;
  tag: string;
  /** True if the API's release does not have the operations. */
  isExtension?: boolean;
  /** Says in descriptions who holds the records; ` of the tenant` if it is absent. */
  ofHolder?: string;
  /** Sentences of descriptions that say what all resources do not have in common. */
  notes?: { create?: string; update?: string; delete?: string };
  path: string;
  listPath: string;
  readAccess: Access;
  writeAccess: Access;
  /** Scope of the records, if it is narrower than the tenant. */
  place?: PlaceRoutes;
  /** False if single records cannot be read. */
  single?: boolean;
  /** Error statuses of deletion besides the usual ones. */
  deleteErrors?: OperationOptions['errors'];
  selector: Type<SelectorQuery>;
  listQuery: Type<PageRequest>;
  create: Type<object>;
  update: Type<object>;
  read: Type<object>;
  write: Type<object>;
}

interface PlaceRoutes {
  /** Fills a handler's parameter with the scope of the service. */
  scope: ParameterDecorator;
  /** Query that names the scope of a new record. The resource's other queries must name it as well. */
  query: Type<object>;
}

/** The search by part of a name, unless the list itself accepts one. */
interface SearchRoute<SearchQuery> {
  searchQuery: Type<SearchQuery>;
  /** Returns the part of the name. */
  partOfName: (query: SearchQuery) => string;
}

/** Instance type of one of the routes' classes. */
type Of<R extends ResourceRoutes, Name extends 'listQuery' | 'create' | 'update' | 'read' | 'write'> = InstanceType<
  R[Name]
>;

interface Service<R extends ResourceRoutes> {
  list(scope: TenantScope, query: Of<R, 'listQuery'>, partOfName?: string): Promise<Page<Of<R, 'read'>>>;
  get(scope: TenantScope, selector: RecordSelector): Promise<Of<R, 'read'>>;
  create(scope: TenantScope, body: Of<R, 'create'>): Promise<Of<R, 'write'>>;
  update(scope: TenantScope, selector: RecordSelector, body: Of<R, 'update'>): Promise<Of<R, 'write'>>;
  delete(scope: TenantScope, selector: RecordSelector): Promise<Message>;
}

function noted(text: string, note: string | undefined): string {
  return note === undefined ? text : `${text} ${note}`;
}

/** Base class of a controller with list, create, update and delete of one resource, and usually search and get. */
export function ResourceController<R extends ResourceRoutes, SearchQuery extends Of<R, 'listQuery'>>(
  routes: R & (SearchRoute<SearchQuery> | { searchQuery?: undefined }),
) {
  const { one, many, label, labels = `${label}s`, path, listPath, readAccess, writeAccess, place, tag } = routes;
  const { ofHolder = ' of the tenant', notes = {}, isExtension } = routes;
  const read = { method: 'GET', tag, access: readAccess, isExtension } as const;
  const write = { path, tag, access: writeAccess, isExtension };
  const article = /^[aeio]/.test(label) ? 'an' : 'a';
  const Scope = () => place?.scope ?? CurrentScope();
  const OperationIf = (isServed: boolean, options: OperationOptions): MethodDecorator =>
    isServed ? Operation(options) : () => undefined;

  abstract class Controller {
    protected constructor(protected readonly service: Service<R>) {}

    @Operation({
      ...read,
      path: listPath,
      id: `list${many}`,
      summary: `List the ${labels}, newest first`,
      description: `Returns the ${labels}${ofHolder} that match all filters.`,
      response: Responses.page(routes.read),
    })
    list(
      @Scope() scope: TenantScope,
      @QueryOf(routes.listQuery) query: Of<R, 'listQuery'>,
    ): Promise<Page<Of<R, 'read'>>> {
      return this.service.list(scope, query);
    }

    @OperationIf(routes.searchQuery !== undefined, {
      ...read,
      path: `${listPath}/search`,
      id: `search${many}`,
      summary: `Search the ${labels} by part of the name`,
      description: `Returns the ${labels}${ofHolder} whose name contains the text, ignoring case, newest first.`,
      response: Responses.page(routes.read),
    })
    search(
      @Scope() scope: TenantScope,
      @QueryOf(routes.searchQuery ?? routes.listQuery) query: SearchQuery,
    ): Promise<Page<Of<R, 'read'>>> {
      return this.service.list(scope, query, routes.searchQuery && routes.partOfName(query));
    }

    @Operation({
      ...write,
      method: 'POST',
      id: `create${one}`,
      summary: `Create ${article} ${label}`,
      description: noted(
        `Stores ${article} ${label}. A name that is already in use is refused with 409.`,
        notes.create,
      ),
      response: Responses.one(routes.write),
      errors: [409],
    })
    create(
      @Scope() scope: TenantScope,
      @BodyOf(routes.create) body: Of<R, 'create'>,
      @QueryOf(place?.query ?? NoQuery) _place: object,
    ): Promise<Of<R, 'write'>> {
      return this.service.create(scope, body);
    }

    @OperationIf(routes.single ?? true, {
      ...read,
      path,
      id: `get${one}`,
      summary: `Get ${article} ${label} by id or name`,
      description: `Returns one ${label}. If both id and name are sent, they must identify the same record.`,
      response: Responses.one(routes.read),
    })
    get(@Scope() scope: TenantScope, @QueryOf(routes.selector) query: SelectorQuery): Promise<Of<R, 'read'>> {
      return this.service.get(scope, query.selector());
    }

    @Operation({
      ...write,
      method: 'PUT',
      id: `update${one}`,
      summary: `Update ${article} ${label}`,
      description: noted('Changes the fields that are sent, at least one; the others keep their values.', notes.update),
      response: Responses.one(routes.write),
      status: 201,
      errors: [409],
    })
    update(
      @Scope() scope: TenantScope,
      @QueryOf(routes.selector) query: SelectorQuery,
      @BodyOf(routes.update) body: Of<R, 'update'>,
    ): Promise<Of<R, 'write'>> {
      return this.service.update(scope, query.selector(), body);
    }

    @Operation({
      ...write,
      method: 'DELETE',
      id: `delete${one}`,
      summary: `Delete ${article} ${label}`,
      description: noted(
        'Ends the record: it no longer appears in lists, and its name can be used again.',
        notes.delete,
      ),
      response: Responses.message,
      status: 201,
      errors: routes.deleteErrors ?? [],
    })
    delete(@Scope() scope: TenantScope, @QueryOf(routes.selector) query: SelectorQuery): Promise<Message> {
      return this.service.delete(scope, query.selector());
    }
  }
  return Controller;
}
