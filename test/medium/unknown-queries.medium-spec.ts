import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { createOpenApiDocument } from '../../src/platform/http/openapi';
import { OPERATION_METADATA, type OperationOptions } from '../../src/platform/http/operation-options';
import { takesQuery } from '../../src/platform/http/no-query';
import { operationsOf } from './access-matrix/requests';
import { People } from './harness/people';
import { wholeApi } from './harness/test-api';

/** The SSO provider may add parameters of its own; the socket of a kernel accepts any session name. */
const OPEN = ['prepareKernelSocket', 'completeSsoLogin'];

// Real: the whole API and PostgreSQL.
describe('an unknown query parameter', () => {
  const api = wholeApi();
  const people = new People(api);

  it('is checked by every operation', () => {
    const { app } = api;
    const scanner = new MetadataScanner();
    const without: string[] = [];
    for (const { metatype } of app.get(DiscoveryService).getControllers()) {
      const prototype = (metatype as { prototype: Record<string, object> }).prototype;
      for (const method of scanner.getAllMethodNames(prototype)) {
        const operation = new Reflector().get<OperationOptions | undefined>(
          OPERATION_METADATA,
          prototype[method] as () => void,
        );
        if (operation && !takesQuery(prototype, method)) without.push(operation.id);
      }
    }
    expect(without).toEqual(OPEN);
  });

  it('is refused, and named, by every operation without a body', async () => {
    const tenantId = await people.tenant();
    const userId = await people.user([
      ['PLATFORM ADMIN', null],
      ['CAN MANAGE CLUSTER', tenantId],
    ]);
    const { call } = await people.as(userId, tenantId);
    const { workspace_id: workspaceId } = (await call('POST', '/workspace', { name: 'asked' })).body;
    const operations = operationsOf(createOpenApiDocument(api.app, '0')).filter(
      ({ id, path, method }) =>
        method !== 'POST' && method !== 'PUT' && !OPEN.includes(id) && !path.includes('{workspace_id}'),
    );
    expect(operations.length).toBeGreaterThan(100);
    const admitting: string[] = [];
    for (const { id, method, path, parameters } of operations) {
      if (/^\/api\/v1\/workspace/.test(path) && !path.endsWith('workspaces')) continue;
      const url = path
        .replace('/api/v1', '')
        .replaceAll(/\{tenant_id\}/g, tenantId)
        .replaceAll(/\{\w+\}/g, '1');
      // The guard looks for the workspace before the query is checked.
      const place = parameters.some(({ name }) => name === 'workspace_id') ? `workspace_id=${workspaceId}&` : '';
      const { status, body } = await call(method, `${url}?${place}surprise=1`);
      if (status !== 400 || !String(body.error_message).includes('surprise is not a known field'))
        admitting.push(`${id} ${status} ${String(body.error_message)}`);
    }
    expect(admitting).toEqual([]);
  });
});
