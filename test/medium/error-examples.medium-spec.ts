import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, People } from './harness/people';
import { wholeApi } from './harness/test-api';

interface Response {
  content: { 'application/json': { example?: object } };
}

const { responses } = (
  JSON.parse(readFileSync(join(__dirname, '..', '..', 'openapi.json'), 'utf8')) as {
    components: { responses: Record<string, Response> };
  }
).components;
const exampleOf = (name: string) => responses[name]?.content['application/json'].example;

// Real: the whole API with PostgreSQL and Redis.
describe('the examples of errors in openapi.json', () => {
  const api = wholeApi();
  const people = new People(api);
  let token: string;

  beforeAll(async () => {
    const tenantId = await people.tenant('examples');
    await people.withPassword('example-user', [['USER', tenantId]]);
    token = await api.login('example-user', PASSWORD);
    const { status } = await api.call('POST', '/workspace', { token, body: { name: 'example-workspace' } });
    expect(status).toBe(200);
  });

  const cluster = { cluster_name: 'example-cluster' };
  const CAUSES = {
    Error400: () => api.call('POST', '/workspace', { token, body: {} }),
    Error401: () => api.call('GET', '/clusters'),
    Error403: () => api.call('POST', '/cluster/start', { token, body: cluster }),
    Error404: () => api.call('GET', '/cluster?cluster_name=example-cluster', { token }),
    Error409: () => api.call('PUT', '/workspace/enable?workspace_name=example-workspace', { token }),
    ErrorDefault: () => api.call('POST', '/workspace', { token, body: {}, headers: { 'content-type': 'text/plain' } }),
  };

  it.each(Object.entries(CAUSES))('include the answer of the platform at %s', async (name, cause) => {
    const { status, body } = await cause();
    expect(name === 'ErrorDefault' ? status : `Error${status}`).toBe(name === 'ErrorDefault' ? 415 : name);
    expect({ ...(body as object), correlation_id: null }).toEqual({ ...exampleOf(name), correlation_id: null });
  });

  it('are those that are compared here', () => {
    expect(Object.keys(responses).filter(exampleOf).sort()).toEqual(Object.keys(CAUSES).sort());
  });
});
