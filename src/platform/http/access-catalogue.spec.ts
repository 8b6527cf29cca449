import { type Access, Allow } from '../kernel/auth/access';
import { accessCatalogue } from './access-catalogue';
import { Responses } from './operation';
import { type OperationOptions } from './operation-options';

function operation(method: OperationOptions['method'], path: string, access: Access): OperationOptions {
  return { method, path, access, id: `${method} ${path}`, summary: '', tag: '', response: Responses.none };
}

const START = operation('POST', '/cluster/start', Allow.tenant(['ADMIN', 'CAN MANAGE CLUSTER']));

describe('accessCatalogue', () => {
  it('lists each path once, and a rule for each role that may use a method on it', () => {
    const { resources, rules } = accessCatalogue([
      START,
      operation('PUT', '/cluster', Allow.platform(['PLATFORM ADMIN'])),
      operation('GET', '/cluster', Allow.tenant(['USER'])),
      operation('POST', '/login', Allow.everyone),
      operation('POST', '/poll', Allow.nodes),
    ]);
    expect(resources.map(({ path }) => path)).toEqual(['/cluster', '/cluster/start']);
    expect(rules.map(({ permission, resource, role }) => `${permission} ${resource.path} ${role}`)).toEqual([
      'GET /cluster USER',
      'PUT /cluster PLATFORM ADMIN',
      'POST /cluster/start ADMIN',
      'POST /cluster/start CAN MANAGE CLUSTER',
    ]);
    for (const { resource } of rules) expect(resources).toContain(resource);
  });

  it('keeps the ids when other operations are added or removed', () => {
    const before = accessCatalogue([START]);
    const after = accessCatalogue([operation('GET', '/a', Allow.signedIn), START]);
    expect(after.resources).toEqual(expect.arrayContaining([...before.resources]));
    expect(after.rules).toEqual(expect.arrayContaining([...before.rules]));
    // Clients may store ids, so these must never change.
    expect(before).toEqual({
      resources: [{ id: 9_248_931_892_987, path: '/cluster/start' }],
      rules: [
        expect.objectContaining({ id: 21_750_635_921_448, role: 'ADMIN' }),
        expect.objectContaining({ id: 62_378_550_923_630, role: 'CAN MANAGE CLUSTER' }),
      ],
    });
    expect(after.rules.every(({ id }) => Number.isSafeInteger(id))).toBe(true);
  });

  it('refuses two rules with one id', () => {
    expect(() => accessCatalogue([START, START])).toThrow(/Two access rules have the id \d+/);
  });
});
