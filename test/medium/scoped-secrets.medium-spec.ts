import { DataSource } from 'typeorm';
import { SecretsOfTenantService } from '../../src/modules/execution/user-secrets/scoped-secrets/secrets-of-tenant.service';
import { SecretsOfUserService } from '../../src/modules/execution/user-secrets/scoped-secrets/secrets-of-user.service';
import { SecretsOfWorkspaceService } from '../../src/modules/execution/user-secrets/scoped-secrets/secrets-of-workspace.service';
import { REFERENCE } from '../samples/reference';
import { type Caller, People, refusal } from './harness/people';
import { wholeApi, type TestAnswer } from './harness/test-api';
import { autocommit } from '../harness/autocommit';

const MOST = 1_000;
const TOKEN = { secret_type: 'DATABRICKS UNITY TOKEN', token: 'hush' };
const SCOPES = ['tenant', 'workspace', 'user'] as const;
type ScopeName = (typeof SCOPES)[number];

/** Secrets of one owner, as a caller sees them. */
class Secrets {
  constructor(
    private readonly name: ScopeName,
    private readonly caller: Caller,
    private readonly place = '',
  ) {}

  create(name: string, body: object = TOKEN): Promise<TestAnswer> {
    return this.caller.call('POST', `/${this.name}/secret?${this.place}`, { name, ...body });
  }

  async id(name: string, body: object = TOKEN): Promise<number> {
    const { status, body: made } = await this.create(name, body);
    expect(status).toBe(200);
    return Number(made[`${this.name}_secret_id`]);
  }

  update(id: number, body: object): Promise<TestAnswer> {
    return this.caller.call('PUT', this.path(id), { secret_type: TOKEN.secret_type, ...body });
  }

  delete(id: number): Promise<TestAnswer> {
    return this.caller.call('DELETE', this.path(id));
  }

  list(query = ''): Promise<TestAnswer> {
    return this.caller.call('GET', `/${this.name}/secrets?${[this.place, query].filter(Boolean).join('&')}`);
  }

  search(part: string): Promise<TestAnswer> {
    const query = [this.place, `secret_name=${part}`].filter(Boolean).join('&');
    return this.caller.call('GET', `/${this.name}/secrets/search?${query}`);
  }

  async names(query = ''): Promise<string[]> {
    return (await this.list(query)).body.data.map(({ name }: { name: string }) => name);
  }

  private path(id: number): string {
    return `/${this.name}/secret?${[this.place, `${this.name}_secret_id=${id}`].filter(Boolean).join('&')}`;
  }
}

// Real: the whole API and PostgreSQL.
describe('secrets', () => {
  const api = wholeApi();
  const people = new People(api);
  let tenant: string;
  let admin: Caller;
  let workspace: number;

  beforeEach(async () => {
    tenant = await people.tenant();
    admin = await people.admin(tenant);
    workspace = await people.workspace(admin);
  });

  const member = (where = tenant) => people.member(where);
  const secretsOf = (scope: ScopeName, caller = admin, place = workspace) =>
    new Secrets(scope, caller, scope === 'workspace' ? `workspace_id=${place}` : '');
  const row = async (scope: ScopeName, id: number) =>
    (await api.database.query(`SELECT * FROM ${scope}_secrets WHERE ${scope}_secret_id = $1`, [id]))[0];
  /** Returns the values as their users receive them. */
  const reveal = (scope: ScopeName, id: number, caller = admin, tenantId = tenant, workspaceId = workspace) => {
    const { manager } = api.app.get(DataSource);
    const whose = { tenantId, userId: caller.userId, username: 'test' };
    const place = { workspaceId, name: 'test', description: null, active: true };
    switch (scope) {
      case 'tenant':
        return api.app.get(SecretsOfTenantService, { strict: false }).reveal(autocommit(manager), whose, id);
      case 'workspace':
        return api.app
          .get(SecretsOfWorkspaceService, { strict: false })
          .reveal(autocommit(manager), { ...whose, workspace: place }, id);
      case 'user':
        return api.app.get(SecretsOfUserService, { strict: false }).reveal(autocommit(manager), whose, id);
    }
  };

  describe.each(SCOPES)('of a %s', (scope) => {
    it('are created, listed, found, changed and deleted, and never show their values', async () => {
      const secrets = secretsOf(scope);
      const made = await secrets.create('one', { ...TOKEN, description: 'first' });
      expect(made).toMatchObject({
        status: 200,
        body: { name: 'one', description: 'first', lookup_secret_type_id: '3', to_date: null },
      });
      const id = Number(made.body[`${scope}_secret_id`]);
      await secrets.id('two', { secret_type: 'ENVIRONMENT VARIABLE', value: 'hush' });
      expect(await secrets.names()).toEqual(['two', 'one']);
      expect(await secrets.names(`${scope}_secret_id=${id}`)).toEqual(['one']);
      expect(await secrets.names('secret_type=environment%20variable')).toEqual(['two']);
      expect((await secrets.search('ON')).body.data).toMatchObject([{ name: 'one' }]);

      const renamed = await secrets.update(id, { name: 'three', description: null });
      expect(renamed).toMatchObject({ status: 201, body: { name: 'three', description: null } });
      expect(await reveal(scope, id)).toEqual({ type: TOKEN.secret_type, values: { token: 'hush' } });
      const changed = await secrets.update(id, { token: 'hush hush' });
      expect(changed.status).toBe(201);
      expect(await reveal(scope, id)).toEqual({ type: TOKEN.secret_type, values: { token: 'hush hush' } });
      const { body } = await secrets.list();
      expect(body.data[1]).toMatchObject({ [`${scope}_secret_id`]: id, secret_type: TOKEN.secret_type });
      expect(JSON.stringify([made, renamed, changed, body])).not.toMatch(/hush|sealed/);

      expect((await secrets.delete(id)).status).toBe(201);
      expect(await secrets.names()).toEqual(['two']);
      expect((await row(scope, id)).sealed).toHaveLength(0);
      await expect(reveal(scope, id)).rejects.toMatchObject({ kind: 'not-found' });
      expect((await secrets.update(id, { name: 'four' })).status).toBe(404);
      // The name is free again.
      await secrets.id('three');
    });

    it('keep their type, and have only values of that type', async () => {
      const secrets = secretsOf(scope);
      const id = await secrets.id('basic', { secret_type: 'HIVE BASIC', username: 'u', password: 'p' });
      const change = async (body: object) => refusal(await secrets.update(id, body));
      expect(await change({ token: 'hush' })).toEqual([400, 'SECRET.TYPE_CHANGED']);
      expect(await change({ secret_type: 'HIVE BASIC' })).toEqual([400, 'REQUEST.EMPTY_UPDATE']);
      expect(await change({ secret_type: 'HIVE BASIC', password: 'q' })).toEqual([400, 'SECRET.FIELD_MISSING']);
      expect(await change({ secret_type: 'HIVE BASIC', token: 'q' })).toEqual([400, 'SECRET.FIELD_UNKNOWN']);
      expect((await reveal(scope, id)).values).toEqual({ username: 'u', password: 'p' });
      expect(refusal(await secrets.create('none', { secret_type: 'HIVE BASIC' }))[1]).toBe('SECRET.FIELD_MISSING');
      for (const wrong of [
        { ...TOKEN, secret_type: 'OTHER' },
        { ...TOKEN, token: 7 },
        { ...TOKEN, token: '' },
      ]) {
        expect((await secrets.create('none', wrong)).status).toBe(400);
      }
      for (const name of ['Upper', 'with blank', '', 'a'.repeat(65)]) {
        expect((await secrets.create(name)).status).toBe(400);
      }
      expect(await secrets.names()).toEqual(['basic']);
    });

    it('have unique names, even if they are added concurrently', async () => {
      const secrets = secretsOf(scope);
      const made = await Promise.all(Array.from({ length: 4 }, () => secrets.create('same')));
      expect(made.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      const other = await secrets.id('other');
      expect(refusal(await secrets.update(other, { name: 'same' }))).toEqual([409, 'RECORD.DUPLICATE_NAME']);
    });

    it('are limited to a thousand, even if they are added concurrently', async () => {
      const secrets = secretsOf(scope);
      const [own, others] = [
        { workspace, user: admin.userId },
        { workspace: await people.workspace(admin), user: 1 },
      ];
      const fill = (tenantId: string, { workspace: place, user }: typeof own, count: number) => {
        const [column, value] = {
          tenant: ['', ''],
          workspace: [', workspace_id', `, ${place}`],
          user: [', user_id', `, ${user}`],
        }[scope];
        return api.database.query(
          `INSERT INTO ${scope}_secrets (tenant_id, name, secret_type_id, sealed${column})
           SELECT $1, 'of-' || n, ${REFERENCE.secret_type_id}, ''${value} FROM generate_series(1, $2) n`,
          [tenantId, count],
        );
      };
      await fill(tenant, own, MOST - 2);
      const elsewhere = scope === 'tenant' ? await people.tenant() : tenant;
      await fill(elsewhere, others, MOST);
      const added = await Promise.all(Array.from({ length: 5 }, (_, n) => secrets.create(`more-${n}`)));
      expect(added.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409, 409]);
      expect(refusal(await secrets.create('last'))).toEqual([409, 'SECRET.TOO_MANY']);
      const { body } = await secrets.search('of-17');
      await secrets.delete(body.data[0][`${scope}_secret_id`]);
      await secrets.id('last');
    });

    it('can be opened in their own row only', async () => {
      const secrets = secretsOf(scope);
      const [one, two] = [await secrets.id('one'), await secrets.id('two', { ...TOKEN, token: 'other' })];
      const set = (id: number, values: Record<string, unknown>) => {
        const entries = Object.entries(values);
        const columns = entries.map(([column], index) => `${column} = $${index + 2}`).join(', ');
        return api.database.query(`UPDATE ${scope}_secrets SET ${columns} WHERE ${scope}_secret_id = $1`, [
          id,
          ...entries.map(([, value]) => value),
        ]);
      };
      const before = await row(scope, one);
      await set(one, { sealed: (await row(scope, two)).sealed });
      await expect(reveal(scope, one)).rejects.toMatchObject({ kind: 'damaged', code: 'SECRET.UNREADABLE' });
      await set(one, { sealed: before.sealed });
      expect((await reveal(scope, one)).values).toEqual({ token: 'hush' });

      // The row itself, with another owner.
      const thief = scope === 'tenant' ? await people.admin(await people.tenant()) : await member();
      const place = await people.workspace(thief);
      const [theirs = {}] = await api.database.query('SELECT tenant_id FROM sessions WHERE user_id = $1', [
        thief.userId,
      ]);
      const move = { tenant: theirs, workspace: { workspace_id: place }, user: { user_id: thief.userId } }[scope];
      // This gives the other tenant a data key.
      await secretsOf(scope, thief, place).id('own');
      await set(two, move as Record<string, unknown>);
      await expect(reveal(scope, two, thief, (theirs as { tenant_id: string }).tenant_id, place)).rejects.toMatchObject(
        { code: 'SECRET.UNREADABLE' },
      );
    });
  });

  it('of a tenant are changed by administrators and listed by all of its users', async () => {
    const id = await secretsOf('tenant').id('ours');
    for (const role of ['USER', 'CAN MANAGE CLUSTER'] as const) {
      const theirs = secretsOf('tenant', await people.as(await people.user([[role, tenant]]), tenant));
      expect((await theirs.list()).body.data).toMatchObject([{ name: 'ours', tenant: { tenant_id: tenant } }]);
      for (const attempt of [theirs.create('x'), theirs.update(id, { name: 'x' }), theirs.delete(id)]) {
        expect(refusal(await attempt)).toEqual([403, 'AUTH.ROLE_REQUIRED']);
      }
    }
    const platformAdmin = secretsOf('tenant', await people.everywhere(tenant));
    expect((await platformAdmin.update(id, { token: 'x' })).status).toBe(201);
    const stranger = secretsOf('tenant', await people.admin(await people.tenant()));
    expect(await stranger.names()).toEqual([]);
    for (const attempt of [stranger.update(id, { name: 'x' }), stranger.delete(id)]) {
      expect((await attempt).status).toBe(404);
    }
  });

  it('of a workspace are changed with MANAGE and listed with VIEW, and missing in another one', async () => {
    const id = await secretsOf('workspace').id('ours');
    const caller = await member();
    const theirs = secretsOf('workspace', caller);
    expect((await theirs.list()).status).toBe(403);
    const permit = (permission_id: number) =>
      admin.call('POST', `/ac/workspace/${workspace}/user`, { user_id: caller.userId, permission_id });
    await permit(2);
    expect((await theirs.list()).body.data).toMatchObject([{ name: 'ours', workspace: { workspace_id: workspace } }]);
    for (const attempt of [theirs.create('x'), theirs.update(id, { name: 'x' }), theirs.delete(id)]) {
      expect((await attempt).status).toBe(403);
    }
    await permit(3);
    const [{ name: called }] = await api.database.query('SELECT name FROM workspaces WHERE workspace_id = $1', [
      workspace,
    ]);
    expect(await new Secrets('workspace', caller, `workspace_name=${called}`).names()).toEqual(['ours']);
    const other = secretsOf('workspace', caller, await people.workspace(caller));
    expect(await other.names()).toEqual([]);
    for (const attempt of [other.update(id, { name: 'x' }), other.delete(id)]) expect((await attempt).status).toBe(404);
    expect((await theirs.delete(id)).status).toBe(201);
  });

  it('of a disabled workspace can be listed but not changed', async () => {
    const secrets = secretsOf('workspace');
    const id = await secrets.id('ours');
    await admin.call('PUT', `/workspace/disable?workspace_id=${workspace}`);
    expect(await secrets.names()).toEqual(['ours']);
    for (const attempt of [secrets.create('x'), secrets.update(id, { name: 'x' }), secrets.delete(id)]) {
      expect(refusal(await attempt)).toEqual([409, 'WORKSPACE.DISABLED']);
    }
  });

  it('of a user are visible to that user only, whatever the role, and in one tenant', async () => {
    const other = await people.tenant();
    const userId = await people.user([
      ['USER', tenant],
      ['USER', other],
    ]);
    const [here, there] = [await people.as(userId, tenant), await people.as(userId, other)];
    const id = await secretsOf('user', here).id('mine');
    await secretsOf('user', there).id('mine');
    expect((await secretsOf('user', there).update(id, { name: 'x' })).status).toBe(404);
    for (const caller of [admin, await people.everywhere(tenant), await member()]) {
      const theirs = secretsOf('user', caller);
      expect(await theirs.names()).toEqual([]);
      expect(await theirs.names(`user_secret_id=${id}`)).toEqual([]);
      expect((await theirs.search('min')).body.data).toEqual([]);
      for (const attempt of [theirs.update(id, { token: 'x' }), theirs.delete(id)]) {
        expect((await attempt).status).toBe(404);
      }
      await expect(reveal('user', id, caller)).rejects.toMatchObject({ kind: 'not-found' });
    }
    expect(await secretsOf('user', here).names()).toEqual(['mine']);
  });
});
