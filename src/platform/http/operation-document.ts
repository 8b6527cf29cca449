import { applyDecorators, type INestApplication, type Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import {
  ApiBearerAuth,
  ApiBody,
  ApiConsumes,
  ApiExcludeEndpoint,
  ApiExtension,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiResponse,
  type ApiResponseOptions,
  getSchemaPath,
} from '@nestjs/swagger';
import { type Access, isForNodes } from '../kernel/auth/access';
import { Message } from '../kernel/dto/response-fields';
import { ErrorAnswerBody } from './error-answer-body';
import { LIST_PAGE_HEADERS } from './list-page';
import {
  type ResponseShape,
  isStreamed,
  changesRecords,
  OPERATION_METADATA,
  type OperationOptions,
} from './operation-options';
import { API_RELEASE } from './api-release';
import { pageSchemaOf } from './page-schema';
import { documentId } from './parameters';
import { type ErrorStatus, errorText } from './error-responses';
import { routeHandlers } from './route-handlers';

/** Error statuses of any operation. {@link errorStatuses} adds those of one operation. */
const USUAL_ERRORS = [400, 401, 404, 500] as const satisfies ErrorStatus[];

/** Section of the description of an operation that other implementations of the same release do not have. */
const EXTENSION_SECTION = `\n\n**Extension:** Not part of release ${API_RELEASE} of the API.`;

/** Begins the section of an operation's description that says who may call it. */
export const ACCESS_SECTION = '\n\n**Access:** ';

/** The metadata key under which @nestjs/swagger keeps the documented parameters of a handler. */
const API_PARAMETERS = 'swagger/apiParameters';

/** The generator accumulates what decorators add, so each handler is documented only once per process. */
const documented = new WeakSet<object>();

/**
 * Applies the decorators of the OpenAPI generator to each operation. This happens when a document is created and not when
 * classes are loaded, because the decorators took 7 % of an API's start in a profile, and few processes create a document.
 */
export function documentOperations(app: INestApplication): void {
  const discovery = new DiscoveryService(app.get(ModulesContainer));
  for (const { type, name, handler } of routeHandlers(discovery, new MetadataScanner())) {
    const options = Reflect.getMetadata(OPERATION_METADATA, handler) as OperationOptions | undefined;
    if (!options || documented.has(handler)) continue;
    documentationOf(options)(type.prototype, name, { value: handler });
    if (takesWorkspaceOfPath(options, handler)) documentId('workspace_id', type.prototype, name);
    documented.add(handler);
  }
}

/** True if a handler receives the workspace of its path from the guard and does not document the id itself. */
function takesWorkspaceOfPath({ access, path }: OperationOptions, handler: object): boolean {
  if (access.kind !== 'workspace' || !path.includes('{workspace_id}')) return false;
  const own = (Reflect.getMetadata(API_PARAMETERS, handler) ?? []) as { name?: string }[];
  return !own.some(({ name }) => name === 'workspace_id');
}

function documentationOf(options: OperationOptions): MethodDecorator {
  const status = options.status ?? 200;
  return applyDecorators(
    ApiOperation({
      operationId: options.id,
      summary: options.summary,
      description:
        `${options.description ?? ''}${options.isExtension ? EXTENSION_SECTION : ''}${ACCESS_SECTION}${describeAccess(options.access)}`.trim(),
      tags: [options.tag],
    }),
    ...(options.internal ? [ApiExcludeEndpoint()] : []),
    ...(options.protocol ? [ApiExtension('x-protocol', options.protocol), ApiExtension('x-sdk-exclude', true)] : []),
    ...(options.access.kind === 'public' || isForNodes(options.access) ? [] : [ApiBearerAuth('bearerAuth')]),
    ...(options.binaryBody
      ? [ApiBody({ required: false, schema: rawBodySchema(options) }), ApiConsumes(rawBodyType(options))]
      : []),
    ...Object.entries(options.headers ?? {}).map(([name, description]) =>
      ApiHeader({ name, description, required: false }),
    ),
    ...responseDecorators(options.response, status),
    ...errorStatuses(options).map((status) =>
      ApiResponse({ status, description: errorText(status), type: options.errorResponse ?? ErrorAnswerBody }),
    ),
    ...(takesIdempotencyKey(options) ? [ApiHeader(IDEMPOTENCY_KEY)] : []),
  );
}

function rawBodyType({ bodyType, jsonExample }: OperationOptions): string {
  return bodyType ?? (jsonExample === undefined ? 'application/octet-stream' : 'application/json');
}

function rawBodySchema({ jsonExample }: OperationOptions): object {
  return jsonExample === undefined ? { type: 'string', format: 'binary' } : { example: jsonExample };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  description:
    'Makes it safe to repeat the request: with the same key, it takes effect once and gets the same response. 1 to 255 visible ASCII characters',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** True for a POST of a user that the platform answers itself: its transaction stores the key and the response. */
function takesIdempotencyKey({ method, access, response }: OperationOptions): boolean {
  return method === 'POST' && access.kind !== 'public' && !['json', 'binary'].includes(response.kind);
}

/** Returns the error statuses that the operation can have, and those that its contract lists. `default` is for all others. */
export function errorStatuses(options: OperationOptions): ErrorStatus[] {
  // The contract allows a probe no other status.
  if (options.errorResponse) return [500];
  const restricted = options.access.kind !== 'public' && options.access.kind !== 'signed-in';
  const statuses: ErrorStatus[] = [
    ...USUAL_ERRORS,
    ...(restricted || changesRecords(options) ? [403 as const] : []),
    ...(isStreamed(options) ? [429 as const] : []),
    ...(options.errors ?? []),
  ];
  return [...[...new Set(statuses)].toSorted(), 'default'];
}

/** Returns a sentence that says who may call an operation. */
export function describeAccess(access: Access): string {
  switch (access.kind) {
    case 'public':
      return 'No token is needed.';
    case 'signed-in':
      return 'Any logged-in user.';
    case 'tenant':
      return access.roles
        ? `Roles: ${access.roles.join(', ')} in the selected tenant.`
        : 'Any role in the selected tenant.';
    case 'platform':
      return `Roles: ${access.roles.join(', ')}.`;
    case 'workspace':
      return access.optional
        ? `At least ${access.permission} on the workspace; if no workspace is named, any role in the selected tenant. ADMIN and PLATFORM ADMIN need no permission.`
        : `At least ${access.permission} on the workspace; ADMIN and PLATFORM ADMIN need no permission.`;
    case 'machine':
      return 'A machine that will become a node; needs no token.';
    case 'node':
      return 'A node agent with its token.';
    case 'bootstrap':
      return 'A node agent with the bootstrap token of its node.';
  }
}

function responseDecorators(response: ResponseShape, status: number): (ClassDecorator & MethodDecorator)[] {
  return [
    ...(response.kind === 'table' ? [extraModels(response.type)] : []),
    ApiResponse({ status, description: 'Done', ...responseOf(response) }),
    ...(response.kind === 'binary' && response.canRedirect ? [ApiResponse(REDIRECT)] : []),
  ];
}

function extraModels(...types: Type<object>[]): ClassDecorator & MethodDecorator {
  return ApiExtraModels(...types) as ClassDecorator & MethodDecorator;
}

const REDIRECT = {
  status: 307,
  description: 'The object store sends the file',
  headers: { Location: { description: 'Signed address of the file', schema: { type: 'string' } } },
} as const;

const PART_OF_LIST = { description: 'The list, or a page of it', headers: LIST_PAGE_HEADERS };

function responseOf(response: ResponseShape): ApiResponseOptions {
  switch (response.kind) {
    case 'object':
      return { type: response.type };
    case 'list':
      return { type: response.type, isArray: true };
    case 'table': {
      const schema = { type: 'array', items: { $ref: getSchemaPath(response.type) } } as const;
      const content = { 'application/json': { schema }, 'text/csv': { schema: { type: 'string' } as const } };
      return { description: 'The list, as JSON or as CSV', content };
    }
    case 'text-lists':
      return { schema: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } } };
    case 'page-of-list':
      return { ...PART_OF_LIST, type: response.type, isArray: true };
    case 'values':
      return { ...(response.isPaged && PART_OF_LIST), schema: { type: 'array', items: response.items } };
    case 'page':
      return { description: 'A page of records', type: pageSchemaOf(response.type) };
    case 'message':
      return { type: Message };
    case 'text':
      return { description: 'Text', content: { 'text/plain': { schema: { type: 'string' } } } };
    case 'events':
      return { description: 'Server-sent events', content: { 'text/event-stream': { schema: { type: 'string' } } } };
    case 'binary': {
      const schema = { type: 'string', format: 'binary' } as const;
      return { description: 'File content', content: { 'application/octet-stream': { schema } } };
    }
    case 'json':
      return { description: 'Any JSON', content: { 'application/json': { schema: {} } } };
    case 'none':
      return {};
  }
}
