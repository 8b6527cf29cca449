import { isDeepStrictEqual } from 'node:util';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { keysToWire, keyToWire, textToWire, toWire } from '../kernel/product/product-name';
import { showAnswers } from './answer-examples';
import { API_RELEASE } from './api-release';
import { assertDescribed } from './assert-described';
import { EnumSchemas } from './enum-schemas';
import { plainErrorResponse, sharedErrorName, sharedErrorResponses } from './error-responses';
import { packageLicense } from './health/health.service';
import { documentOperations } from './operation-document';
import { gatherRequiredChoices } from './required-choices';
import { TAGS } from './tags';

export const API_PREFIX = 'api/v1';
export const API_TITLE = 'Managed Spark Compute Platform';
/** Path of the Swagger UI. */
export const DOCS_PATH = `${API_PREFIX}/docs`;

const FIRST_PAGE = `Define infrastructure, start and stop Spark clusters, share workspaces, and run jobs. Release ${API_RELEASE} of the API.

1. **Log in**: \`POST /${API_PREFIX}/login\` with user name and password returns a \`token\`. Every other request carries it as \`Authorization: Bearer <token>\`; in Swagger UI, click *Authorize* and paste it into *bearerAuth*.
2. **Choose a tenant**: \`GET /${API_PREFIX}/user/tenants\` lists yours, \`POST /${API_PREFIX}/user/select/{tenant_id}\` selects one for the token. If you belong to a single tenant, it is already selected.
3. **Continue** in the order of the sections: a workspace with files, a job, a notebook; then clusters and what they are made of; administration comes last.

The example bodies run unchanged, in this order, against a fresh quickstart, which prints the password of \`admin\`.`;

type DocumentedOperation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Creates the OpenAPI 3.1 document of the running application. Throws an error that names its parts without a description. */
export function createOpenApiDocument(app: INestApplication, version: string): OpenAPIObject {
  documentOperations(app);
  const options = new DocumentBuilder()
    .setTitle(API_TITLE)
    .setDescription(FIRST_PAGE)
    .setVersion(version)
    .addExtension('x-api-release', API_RELEASE, 'info')
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, 'bearerAuth')
    .addBasicAuth({ type: 'http', scheme: 'basic' }, 'basicAuth')
    .addServer(`/${API_PREFIX}`)
    .build();
  const document = SwaggerModule.createDocument(app, { ...options, info: withLicense(options.info), tags: [...TAGS] });
  const paths = Object.entries<unknown>(document.paths).map(([path, item]): [string, unknown] => [
    withoutPrefix(path),
    item,
  ]);
  const components = { ...document.components, responses: sharedErrorResponses() };
  const whole = { ...document, components, paths: Object.fromEntries(paths) };
  const enums = new EnumSchemas();
  const complete = toOpenApi31(whole as unknown as Json, enums) as unknown as OpenAPIObject;
  const schemas = complete.components?.schemas ?? {};
  complete.components = { ...complete.components, schemas: sortedByName({ ...schemas, ...enums.schemas(schemas) }) };
  gatherRequiredChoices(complete);
  showAnswers(complete);
  shareErrors(complete);
  assertDescribed(complete);
  return complete;
}

/** Replaces the usual error responses of operations by references, so that each appears once in the document. */
function shareErrors(document: OpenAPIObject): void {
  for (const item of Object.values(document.paths)) {
    for (const { responses } of Object.values(item as Record<string, DocumentedOperation>)) {
      for (const [status, response] of Object.entries(responses ?? {})) {
        if (!isDeepStrictEqual(response, plainErrorResponse(status))) continue;
        responses[status] = { $ref: `#/components/responses/${sharedErrorName(status)}` };
      }
    }
  }
}

/** Names the license, and leaves out the contact, which package.json does not name. */
function withLicense({ contact: _none, ...info }: OpenAPIObject['info']): OpenAPIObject['info'] {
  return { ...info, license: { name: packageLicense() } };
}

function sortedByName<T>(entries: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The address of the server has the prefix, which a preview does not add, because it has no router module. */
function withoutPrefix(path: string): string {
  return path.startsWith(`/${API_PREFIX}/`) ? path.slice(API_PREFIX.length + 1) : path;
}

/**
 * Converts the generator's OpenAPI 3.0 schemas to 3.1, which has no `nullable`. Enumerations become references to schemas of their
 * own, with the product's configured name in their values. Keys are sorted, so that the committed file changes only with the
 * interface.
 */
export function toOpenApi31(node: Json, enums = new EnumSchemas()): Json {
  if (Array.isArray(node)) return node.map((item) => toOpenApi31(item, enums));
  if (node === null || typeof node !== 'object') return node;
  const source = enums.refer(node) as { [key: string]: Json };
  const entries = Object.entries(source)
    .filter(([key, value]) => key !== 'nullable' || typeof value !== 'boolean')
    .map(([key, value]): [string, Json] => [key, wireValue(key, value, enums)])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const schema = Object.fromEntries(entries);
  return source['nullable'] === true ? allowNull(schema) : plainReference(schema);
}

/** Replaces `allOf` with a single reference, which 3.0 needs beside a description, by the reference itself. */
function plainReference(schema: { [key: string]: Json }): Json {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf) || allOf.length !== 1) return schema;
  return { ...(allOf[0] as { [key: string]: Json }), ...rest };
}

/** Gives the functions fields and the descriptions that name them the product's configured name. */
function wireValue(key: string, value: Json, enums: EnumSchemas): Json {
  const texts = Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : null;
  if (key === 'required' && texts) return texts.map(keyToWire);
  if (key === 'example') return exampleToWire(value);
  if (key === 'description' && typeof value === 'string') return textToWire(value);
  const converted = toOpenApi31(value, enums);
  const isObject = typeof converted === 'object' && converted !== null && !Array.isArray(converted);
  return key === 'properties' && isObject ? keysToWire(converted) : converted;
}

/** Converts an example. It is a request and no schema, so its keys keep their order. */
function exampleToWire(example: Json): Json {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return example;
  const fields = Object.entries(example).map(([key, value]) => [
    key,
    typeof value === 'string' ? toWire(value) : value,
  ]);
  return Object.fromEntries(fields) as Json;
}

function allowNull(schema: { [key: string]: Json }): Json {
  const { type, allOf, $ref, ...rest } = schema;
  if (typeof type === 'string') return { ...rest, type: [type, 'null'] };
  if (Array.isArray(allOf))
    return { ...rest, anyOf: [...(allOf.length === 1 ? allOf : [{ allOf }]), { type: 'null' }] };
  if ($ref !== undefined) return { ...rest, anyOf: [{ $ref }, { type: 'null' }] };
  return schema;
}
