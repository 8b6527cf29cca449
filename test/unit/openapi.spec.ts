import 'reflect-metadata';
import type { INestApplication, Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { EnvReader } from '../../src/config/env-reader';
import { readHttpConfig } from '../../src/config/http.config';
import { createApi } from '../../src/create-api';
import { fieldShapes } from '../../src/platform/kernel/dto/field-shapes';
import { createOpenApiDocument } from '../../src/platform/http/openapi';

interface Schema {
  type?: string | string[];
  format?: string;
  items?: Schema;
  default?: unknown;
  properties?: Record<string, Schema>;
}

interface DocumentedOperation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: { name: string; schema: Schema }[];
  responses: Record<string, { $ref?: string; description?: string }>;
}

type Class = new () => Record<string, unknown>;

const REQUESTS = [RouteParamtypes.BODY, RouteParamtypes.QUERY];
/** Strings that other systems call ids. */
const OTHERS_IDS = [
  ...['executor_id', 'correlation_id', 'group_object_id', 'job_application_id', 'network_project_id'],
  ...['aws_access_key_id', 'client_id', 'private_key_id', 'project_id', 'subscription_id'],
  ...[
    'function_id',
    'volume_id',
    'metastore_id',
    'schema_id',
    'kernel_id',
    'notebook_application_id',
    'application_id',
    'last_event_id',
  ],
];
/** The specification defines ids of providers as int32; the first id is Unity Catalog's; the others are tenants of Azure. */
const ODD_IDS = [
  'BrowseVolume.catalog_id',
  ...['CreateCloudEnv.cloud_provider_id', 'CreateObjectStorageManager.cloud_provider_id'],
  ...['CreateSecret.tenant_id', 'SecretDetails.tenant_id', 'UpdateSecret.tenant_id'],
];

describe('the OpenAPI document', () => {
  let app: INestApplication;
  let document: OpenAPIObject;
  let schemas: [name: string, Schema][];
  let operations: [method: string, DocumentedOperation][];

  beforeAll(async () => {
    app = await createApi({ preview: true, http: readHttpConfig(new EnvReader({})) });
    document = createOpenApiDocument(app, '1.2.3');
    schemas = Object.entries(document.components?.schemas ?? {}) as [string, Schema][];
    operations = Object.values(document.paths).flatMap(
      (item) => Object.entries(item) as unknown as [string, DocumentedOperation][],
    );
  });

  it('describes each operation in a sentence', () => {
    const summaries = operations.map(([, { summary }]) => summary);
    expect(summaries.filter((text) => !/^[A-Z]/.test(text) || /\ba [aeio]/.test(text))).toEqual([]);
  });

  it('names the version of the service and the release of the API', () => {
    expect(document.info).toMatchObject({ version: '1.2.3', 'x-api-release': '2.10.1' });
    expect(document.info.description).toContain('Release 2.10.1');
  });

  describe('defaults', () => {
    /** Returns the classes of bodies and queries, and of the objects in them. */
    function requestClasses(): Set<Class> {
      const found = new Set<Class>();
      const scanner = new MetadataScanner();
      const add = (type: Class) => {
        if (found.has(type) || typeof type !== 'function') return;
        found.add(type);
        for (const shape of fieldShapes(type).values()) if ('type' in shape) add(shape.type() as Class);
      };
      for (const { metatype } of new DiscoveryService(app.get(ModulesContainer)).getControllers()) {
        const { prototype } = metatype as Type<object>;
        for (const method of scanner.getAllMethodNames(prototype)) {
          const types = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as Class[];
          const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, metatype as object, method) ?? {}) as object;
          for (const [key, { index }] of Object.entries(args) as [string, { index: number }][]) {
            const type = types[index];
            if (type && REQUESTS.some((kind) => key.startsWith(`${kind}:`))) add(type);
          }
        }
      }
      return found;
    }

    it('equal those that the service applies to requests', () => {
      const classes = [...requestClasses()];
      expect(classes.length).toBeGreaterThan(50);
      for (const type of classes) {
        const request = new type();
        for (const field of fieldShapes(type).keys()) {
          const documented = (Reflect.getMetadata('swagger/apiModelProperties', type.prototype as object, field) ??
            {}) as Schema;
          expect([type.name, field, documented.default]).toEqual([type.name, field, request[field]]);
        }
      }
    });

    it('of a new cluster are complete', () => {
      const defaultsOf = (name: string) =>
        Object.fromEntries(
          Object.entries(new Map(schemas).get(name)?.properties ?? {})
            .filter(([, schema]) => schema.default !== undefined)
            .map(([field, schema]) => [field, schema.default]),
        );
      expect(defaultsOf('CreateCluster')).toEqual({
        idle_timeout_ms: 7_200_000,
        is_turbo_enabled: false,
        is_cuda_enabled: false,
        block_project_ssh_keys: true,
        mount_ids: [],
        clean_up_timeout: 240,
      });
      expect(defaultsOf('NewEngineClusterSparkConfig')).toEqual({ max_parallel_spark_job_execution_per_instance: 5 });
      expect(defaultsOf('UpdateCluster')).toEqual({});
    });
  });

  it('describes exactly the tags of its operations', () => {
    const used = operations.flatMap(([, { tags }]) => tags);
    expect((document.tags ?? []).map(({ name }) => name).sort()).toEqual([...new Set(used)].sort());
    for (const { description } of document.tags ?? []) expect(description).toMatch(/^[A-Z].*\.$/);
  });

  it('has patterns that validators of all languages support', () => {
    const patterns: string[] = [];
    const collect = (node: unknown) => {
      if (typeof node !== 'object' || node === null) return;
      for (const [key, value] of Object.entries(node)) {
        if (key === 'pattern' && typeof value === 'string') patterns.push(value);
        else collect(value);
      }
    };
    collect(document);
    expect(patterns.length).toBeGreaterThan(30);
    for (const pattern of new Set(patterns)) {
      for (const flags of ['', 'u']) expect(() => new RegExp(pattern, flags)).not.toThrow();
      // Unicode properties, code units, groups with a question mark and back-references are not portable.
      expect(pattern).not.toMatch(/\\[pPukK1-9]|\(\?/);
    }
  });

  it('has int64 ids, and UUIDs of tenants and sessions', () => {
    const ofSchemas = schemas.flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).map(([field, schema]) => ({ where: name, field, schema })),
    );
    const ofParameters = operations.flatMap(([, { operationId, parameters = [] }]) =>
      parameters.map(({ name, schema }) => ({ where: operationId, field: name, schema })),
    );
    const others = [...ofSchemas, ...ofParameters]
      .filter(({ field }) => /(^|_)ids?$/.test(field) && !OTHERS_IDS.includes(field))
      .filter(({ field, schema }) => {
        const { format } = schema.items ?? schema;
        return format !== (/^(tenant|session)_ids?$/.test(field) ? 'uuid' : 'int64');
      });
    expect(others.map(({ where, field }) => `${where}.${field}`).sort()).toEqual(ODD_IDS);
  });

  it('takes an idempotency key where a user creates or starts something, and nowhere else', () => {
    const takes = (id: string) =>
      operations
        .find(([, { operationId }]) => operationId === id)?.[1]
        .parameters?.some(({ name }) => name === 'Idempotency-Key') ?? false;
    for (const id of ['createCluster', 'startCluster', 'createJob', 'uploadWorkspaceFile'])
      expect([id, takes(id)]).toEqual([id, true]);
    for (const id of ['login', 'getCluster', 'updateCluster', 'invokeFunction', 'thriftSql', 'openKernelSocket'])
      expect([id, takes(id)]).toEqual([id, false]);
  });

  describe('statuses', () => {
    const statusesOf = (id: string) => {
      const [, operation] = operations.find(([, { operationId }]) => operationId === id) ?? [];
      return Object.keys(operation?.responses ?? {}).map((status) => (status === 'default' ? status : Number(status)));
    };

    it('include those of every operation, and for changes those of every change', () => {
      for (const [method, { operationId, responses }] of operations) {
        if (operationId === 'healthCheck') continue;
        const expected = [400, 401, 404, 500, 'default', ...(method === 'get' ? [] : [403])];
        const absent = expected.filter((status) => !(status in responses));
        expect([operationId, absent]).toEqual([operationId, []]);
      }
      expect(statusesOf('healthCheck')).toEqual([200, 500]);
    });

    it.each([
      ['logout', [200, 400, 401, 403, 404, 500, 'default']],
      ['createWorkspace', [200, 400, 401, 403, 404, 409, 500, 'default']],
      ['listTokens', [200, 400, 401, 404, 500, 'default']],
      ['deleteMount', [201, 400, 401, 403, 404, 500, 'default']],
      ['downloadWorkspaceFile', [200, 307, 400, 401, 403, 404, 429, 500, 'default']],
    ])('of %s are %j', (id, statuses) => expect(statusesOf(id)).toEqual(statuses));

    it('are described once, unless the operation has codes of its own', () => {
      for (const [, { operationId, responses }] of operations) {
        for (const [status, { $ref, description }] of Object.entries(responses)) {
          if (Number(status) < 400 || operationId === 'healthCheck') continue;
          const name = status === 'default' ? 'ErrorDefault' : `Error${status}`;
          if ($ref === undefined) expect(description).toMatch(/\. Codes: `[A-Z0-9_]+\.[A-Z0-9_]+`/);
          else expect($ref).toBe(`#/components/responses/${name}`);
          expect(document.components?.responses).toHaveProperty(name);
        }
      }
    });
  });
});
