import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROLES } from '../../src/platform/kernel/auth/roles';
import { PASSWORD, People } from './harness/people';
import { wholeApi } from './harness/test-api';

interface Rule {
  rule_id: number;
  permission_type: { permission_id: number; permission: string; description: string };
  resource: { resource_id: number; resource_path: string };
  role: { role_id: number; role: string; description: string };
  from_date: string;
  to_date: string;
}

type Paths = Record<string, Record<string, { security?: object[]; description: string }>>;

const DATES = { from_date: expect.any(String), to_date: 'infinity' };
const { paths } = JSON.parse(readFileSync(join(__dirname, '..', '..', 'openapi.json'), 'utf8')) as { paths: Paths };

function needsToken({ security }: { security?: object[] }): boolean {
  return security?.some((scheme) => 'bearerAuth' in scheme) ?? false;
}

// Real: the whole API with PostgreSQL and Redis.
describe('resources, permissions, roles and rules', () => {
  const api = wholeApi();
  const people = new People(api);
  let token: string;
  let rules: Rule[];

  beforeAll(async () => {
    await people.withPassword('nobody');
    token = await api.login('nobody', PASSWORD);
    rules = await list<Rule>('/rules');
  });

  async function list<T>(path: string): Promise<T[]> {
    const { status, body } = await api.call('GET', path, { token });
    expect(status).toBe(200);
    return body as T[];
  }

  const rolesOf = (permission: string, path: string) =>
    rules
      .filter((rule) => rule.permission_type.permission === permission && rule.resource.resource_path === path)
      .map(({ role }) => role.role);

  it('list the verbs, with the ids that clients know', async () => {
    expect(await list('/permissions')).toEqual(
      ['GET', 'POST', 'PUT', 'DELETE'].map((permission, permission_id) => ({
        permission_id,
        permission,
        description: expect.any(String),
        ...DATES,
      })),
    );
  });

  it('list the roles of the table, with its dates', async () => {
    const stored = await api.database.query<{ from_date: Date }[]>('SELECT from_date FROM roles ORDER BY role_id');
    const roles = await list<Record<string, unknown>>('/roles');
    expect(roles).toEqual(
      ROLES.map((role, role_id) => ({
        role_id,
        role,
        description: expect.any(String),
        from_date: stored[role_id]?.from_date.toISOString(),
        to_date: 'infinity',
      })),
    );
  });

  it('have a resource for each path that needs a token, and for no other', async () => {
    const resources = await list<{ resource_id: number; resource_path: string }>('/resources');
    const withToken = Object.entries(paths)
      .filter(([, item]) => Object.values(item).some(needsToken))
      .map(([path]) => path);
    expect(resources.map(({ resource_path }) => resource_path)).toEqual(withToken.sort());
    expect(new Set(resources.map(({ resource_id }) => resource_id)).size).toBe(resources.length);
  });

  it('have rules with every key', () => {
    expect(rules.length).toBeGreaterThan(300);
    expect(new Set(rules.map(({ rule_id }) => rule_id)).size).toBe(rules.length);
    for (const rule of rules) {
      expect(rule).toEqual({
        rule_id: expect.any(Number),
        permission_type: {
          permission_id: expect.any(Number),
          permission: expect.any(String),
          description: expect.any(String),
        },
        resource: { resource_id: expect.any(Number), resource_path: expect.any(String) },
        role: { role_id: expect.any(Number), role: expect.any(String), description: expect.any(String) },
        ...DATES,
      });
      expect(Number.isSafeInteger(rule.rule_id)).toBe(true);
    }
  });

  it.each([
    ['GET', '/user/info', [...ROLES]],
    ['GET', '/clusters', ['PLATFORM ADMIN', 'ADMIN', 'CAN MANAGE CLUSTER', 'USER']],
    ['POST', '/cluster/start', ['PLATFORM ADMIN', 'ADMIN', 'CAN MANAGE CLUSTER']],
    ['POST', '/machine/volume', ['PLATFORM ADMIN']],
    ['GET', '/workspace', ['PLATFORM ADMIN', 'ADMIN', 'CAN MANAGE CLUSTER', 'USER']],
    ['DELETE', '/platform/admin/tenant', ['PLATFORM ADMIN']],
    ['POST', '/login', []],
  ])('list the roles that may %s %s', (permission, path, roles) => {
    expect(rolesOf(permission, path)).toEqual(roles);
  });

  it('match the access section of role-bound operations', () => {
    let compared = 0;
    for (const [path, item] of Object.entries(paths)) {
      for (const [verb, { description }] of Object.entries(item)) {
        const named = /\*\*Access:\*\* Roles: ([^.]*?)( in the selected tenant)?\.$/
          .exec(description)?.[1]
          ?.split(', ');
        if (!named) continue;
        compared += 1;
        expect([path, rolesOf(verb.toUpperCase(), path).sort()]).toEqual([path, named.sort()]);
      }
    }
    expect(compared).toBeGreaterThan(100);
  });

  it('match the guard, for listed roles and for all others', async () => {
    const tenantId = await people.tenant('ruled');
    for (const role of ['ADMIN', 'CAN MANAGE CLUSTER', 'USER'] as const) {
      const username = `ruled-${role.toLowerCase().replaceAll(' ', '-')}`;
      await people.withPassword(username, [[role, tenantId]]);
      const session = await api.login(username, PASSWORD);
      for (const [verb, path] of [
        ['POST', '/cluster/start'],
        ['GET', '/clusters'],
        ['GET', '/platform/admin/tenants'],
        ['POST', '/machine/volume'],
      ] as const) {
        const { status } = await api.call(verb, path, { token: session });
        expect([verb, path, role, status !== 403]).toEqual([verb, path, role, rolesOf(verb, path).includes(role)]);
      }
    }
  });

  it.each(['resource', 'permission', 'role', 'rule'])('are found by the id of a %s', async (what) => {
    const [first] = await list<Record<string, number>>(`/${what}s`);
    const id = first?.[`${what}_id`];
    const one = await api.call('GET', `/${what}/${id}`, { token });
    expect([one.status, one.body]).toEqual([200, first]);
    const unknown = await api.call('GET', `/${what}/999999`, { token });
    expect([unknown.status, unknown.body.error_code]).toEqual([404, `${what.toUpperCase()}.NOT_FOUND`]);
    expect((await api.call('GET', `/${what}/x`, { token })).status).toBe(400);
    expect((await api.call('GET', `/${what}/${id}`)).status).toBe(401);
  });
});
