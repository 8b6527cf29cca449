import { DataSource } from 'typeorm';
import { configurationXml } from '../harness/configuration-xml';
import {
  CatalogSecretsService,
  type NearestSecrets,
} from '../../src/modules/execution/user-secrets/catalog-secrets/catalog-secrets.service';
import { WorkspaceUser } from '../../src/modules/execution/workspaces/entities/workspace-permissions.entity';
import { PERMISSION_ID } from '../../src/modules/execution/workspaces/workspaces.repository';
import { insertRow } from '../../src/platform/kernel/persistence/sql';
import { hiveSite, unityDetails } from '../samples/metastore-catalog';
import { type Caller, People, refusal } from './harness/people';
import { wholeApi, type TestAnswer } from './harness/test-api';
import { autocommit } from '../harness/autocommit';

const SCOPES = ['tenant', 'workspace', 'user'] as const;
type ScopeName = (typeof SCOPES)[number];

const TOKEN = { secret_type: 'DATABRICKS UNITY TOKEN', token: 'hush' };
const BASIC = { secret_type: 'HIVE BASIC', username: 'u', password: 'hush' };
const VARIABLE = { secret_type: 'ENVIRONMENT VARIABLE', value: 'hush' };
const KEYS = {
  secret_type: 'AWS ACCESS SECRET KEY PAIR',
  aws_access_key_id: 'a',
  aws_secret_access_key: 'hush',
  aws_default_region: 'eu-west-1',
};
const MISMATCH = [400, 'CATALOG_SECRET.TYPE_MISMATCH'];

interface Asked {
  metastore?: number | null;
  storage?: number | null;
}

// Real: the whole API and PostgreSQL.
describe('secrets of metastore catalogs', () => {
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
  const catalog = async (type: 'hive' | 'glue' | 'unity', caller = admin): Promise<number> => {
    const details = { hive: { hiveSiteXml: hiveSite() }, glue: {}, unity: unityDetails }[type];
    const name = people.unique(type);
    const made = await caller.call('POST', `/metastore/catalog/${type}`, { name, ...details });
    expect(made.status).toBe(200);
    return Number(made.body.metastore_catalog_id);
  };
  const secret = async (scope: ScopeName, body: object, caller = admin, place = workspace): Promise<number> => {
    const query = scope === 'workspace' ? `?workspace_id=${place}` : '';
    const made = await caller.call('POST', `/${scope}/secret${query}`, { name: people.unique('secret'), ...body });
    expect(made.status).toBe(200);
    return Number(made.body[`${scope}_secret_id`]);
  };
  const deleteSecret = (scope: ScopeName, id: number, caller = admin) =>
    caller.call(
      'DELETE',
      `/${scope}/secret?${scope === 'workspace' ? `workspace_id=${workspace}&` : ''}${scope}_secret_id=${id}`,
    );
  const path = (scope: ScopeName) => `/metastore/catalog/secret/${scope}`;
  const named = (scope: ScopeName, { metastore, storage }: Asked) => ({
    [`metastore_secrets_${scope}_id`]: metastore,
    [`object_storage_secrets_${scope}_id`]: storage,
  });
  const attach = (scope: ScopeName, catalogId: number, asked: Asked, caller = admin): Promise<TestAnswer> =>
    caller.call('POST', path(scope), { metastore_catalog_id: catalogId, ...named(scope, asked) });
  const attached = async (scope: ScopeName, catalogId: number, asked: Asked, caller = admin): Promise<number> => {
    const answer = await attach(scope, catalogId, asked, caller);
    expect(answer.status).toBe(200);
    return Number(answer.body[`metastore_catalog_secret_${scope}_id`]);
  };
  const update = (scope: ScopeName, id: number, asked: Asked, caller = admin): Promise<TestAnswer> =>
    caller.call('PUT', path(scope), { [`metastore_catalog_secret_${scope}_id`]: id, ...named(scope, asked) });
  const detach = (scope: ScopeName, id: number, caller = admin): Promise<TestAnswer> =>
    caller.call('DELETE', `${path(scope)}?metastore_catalog_secret_${scope}_id=${id}`);
  const list = (scope: ScopeName, query = '', caller = admin): Promise<TestAnswer> =>
    caller.call('GET', `${path(scope)}?${scope === 'workspace' ? `workspace_id=${workspace}&` : ''}${query}`);
  const ids = async (scope: ScopeName, query = '', caller = admin): Promise<number[]> =>
    (await list(scope, query, caller)).body.data.map(
      (one: Record<string, number>) => one[`metastore_catalog_secret_${scope}_id`],
    );
  const nearest = (catalogId: number, caller = admin, place = workspace, where = tenant): Promise<NearestSecrets> =>
    api.app
      .get(CatalogSecretsService, { strict: false })
      .nearest(
        autocommit(api.app.get(DataSource).manager),
        { tenantId: where, userId: caller.userId, username: 'x' },
        place,
        catalogId,
      );

  describe.each(SCOPES)('of a %s', (scope) => {
    it('are attached, listed, changed and detached, and never show their values', async () => {
      const unity = await catalog('unity');
      const glue = await catalog('glue');
      const [token, keys, other] = [
        await secret(scope, TOKEN),
        await secret(scope, KEYS),
        await secret(scope, { ...TOKEN, token: 'hush hush' }),
      ];
      const made = await attach(scope, unity, { metastore: token });
      expect(made).toMatchObject({
        status: 200,
        body: {
          metastore_catalog_id: String(unity),
          ...named(scope, { metastore: String(token) as never, storage: null }),
          to_date: null,
        },
      });
      const id = Number(made.body[`metastore_catalog_secret_${scope}_id`]);
      const ofGlue = await attached(scope, glue, { metastore: null, storage: keys });

      expect(await ids(scope)).toEqual([ofGlue, id]);
      expect(await ids(scope, `metastore_catalog_secret_${scope}_id=${id}`)).toEqual([id]);
      expect(await ids(scope, `metastore_catalog_id=${glue}`)).toEqual([ofGlue]);
      expect(await ids(scope, 'catalog_type=AWS%20GLUE')).toEqual([ofGlue]);
      expect(await ids(scope, 'metastore_catalog_name=NIT')).toEqual([id]);
      expect(await ids(scope, 'metastore_catalog_name=none')).toEqual([]);
      const { body } = await list(scope);
      expect(body.data[1]).toMatchObject({
        metastore_catalog: { metastore_catalog_id: unity, description: null, catalog_type: 'DATABRICKS UNITY' },
        metastore_details: unityDetails,
        [`metastore_secrets_${scope}`]: { [`secrets_${scope}_id`]: token, secret_type: TOKEN.secret_type },
        [`object_storage_secrets_${scope}`]: null,
        tenant_id: tenant,
        to_date: 'infinity',
      });

      const changed = await update(scope, id, { metastore: other, storage: keys });
      expect(changed).toMatchObject({ status: 201, body: { [`metastore_secrets_${scope}_id`]: String(other) } });
      expect((await update(scope, id, { storage: null })).body[`object_storage_secrets_${scope}_id`]).toBeNull();
      expect(refusal(await update(scope, id, { metastore: null }))).toEqual([400, 'CATALOG_SECRET.NONE_LEFT']);
      expect(refusal(await update(scope, id, {}))).toEqual([400, 'REQUEST.EMPTY_UPDATE']);
      expect(JSON.stringify([made, body, changed])).not.toMatch(/hush|sealed/);

      // Secrets that are no longer attached can be deleted.
      expect((await deleteSecret(scope, token)).status).toBe(201);
      expect((await detach(scope, id)).status).toBe(201);
      expect(refusal(await detach(scope, id))[0]).toBe(404);
      expect(await ids(scope)).toEqual([ofGlue]);
      expect((await deleteSecret(scope, other)).status).toBe(201);
    });

    it('must have a type that opens the catalog', async () => {
      const catalogs = { hive: await catalog('hive'), glue: await catalog('glue'), unity: await catalog('unity') };
      const [token, basic, keys, variable] = [
        await secret(scope, TOKEN),
        await secret(scope, BASIC),
        await secret(scope, KEYS),
        await secret(scope, VARIABLE),
      ];
      const { hive, glue, unity } = catalogs;
      const refused = async (id: number, asked: Asked) => refusal(await attach(scope, id, asked));
      for (const wrong of [token, keys, variable]) expect(await refused(hive, { metastore: wrong })).toEqual(MISMATCH);
      for (const wrong of [basic, keys, variable]) expect(await refused(unity, { metastore: wrong })).toEqual(MISMATCH);
      for (const wrong of [basic, token, variable]) {
        expect(await refused(glue, { storage: wrong })).toEqual(MISMATCH);
        expect(await refused(hive, { metastore: basic, storage: wrong })).toEqual(MISMATCH);
      }
      const { error } = (await attach(scope, hive, { metastore: token })).body;
      expect(error).toMatch(/DATABRICKS UNITY TOKEN.*HIVE KERBEROS or HIVE BASIC/);
      expect(await refused(glue, { metastore: token, storage: keys })).toEqual([
        400,
        'CATALOG_SECRET.NO_METASTORE_SECRET',
      ]);
      for (const [id, asked] of [
        [hive, { storage: keys }],
        [unity, { metastore: null, storage: keys }],
        [glue, {}],
      ] as const) {
        expect(await refused(id, asked)).toEqual([400, 'CATALOG_SECRET.MISSING']);
      }
      const ofGlue = await attached(scope, glue, { storage: keys });
      expect(refusal(await update(scope, ofGlue, { metastore: token }))[1]).toBe('CATALOG_SECRET.NO_METASTORE_SECRET');
      expect(refusal(await update(scope, ofGlue, { storage: basic }))).toEqual(MISMATCH);
      const ofHive = await attached(scope, hive, { metastore: basic, storage: keys });
      expect(refusal(await update(scope, ofHive, { metastore: token }))).toEqual(MISMATCH);
      // A storage secret may remain alone.
      expect((await update(scope, ofHive, { metastore: null })).status).toBe(201);
    });

    it('are attached once by concurrent requests', async () => {
      const hive = await catalog('hive');
      const basic = await secret(scope, BASIC);
      const answers = await Promise.all([1, 2, 3, 4].map(() => attach(scope, hive, { metastore: basic })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
      expect(refusal(await attach(scope, hive, { metastore: basic }))).toEqual([
        409,
        'RECORD.DUPLICATE_CATALOG_SECRETS',
      ]);
      const [id] = await ids(scope);
      await detach(scope, Number(id));
      await attached(scope, hive, { metastore: basic });
    });

    it('are not deleted while they are attached, not even in a race with the attachment', async () => {
      const [hive, unity] = [await catalog('hive'), await catalog('unity')];
      const basic = await secret(scope, BASIC);
      const keys = await secret(scope, KEYS);
      await attached(scope, hive, { metastore: basic, storage: keys });
      for (const id of [basic, keys]) {
        const kept = await deleteSecret(scope, id);
        expect(refusal(kept)).toEqual([409, 'SECRET.IN_USE']);
        expect(kept.body.error).toMatch(/"hive-\d+"/);
      }
      for (let round = 0; round < 5; round += 1) {
        const token = await secret(scope, TOKEN);
        const [made, gone] = await Promise.all([
          attach(scope, unity, { metastore: token }),
          deleteSecret(scope, token),
        ]);
        expect([made.status, gone.status].sort()).toEqual(made.status === 200 ? [200, 409] : [201, 404]);
        if (made.status === 200) await detach(scope, Number(made.body[`metastore_catalog_secret_${scope}_id`]));
      }
    });

    it('are detached when their catalog is deleted', async () => {
      const hive = await catalog('hive');
      const basic = await secret(scope, BASIC);
      const id = await attached(scope, hive, { metastore: basic });
      expect((await admin.call('DELETE', `/metastore/catalog/hive?metastore_catalog_id=${hive}`)).status).toBe(201);
      expect(await ids(scope)).toEqual([]);
      expect(await nearest(hive)).toEqual({ metastore: null, storage: null });
      expect(refusal(await update(scope, id, { metastore: basic }))[0]).toBe(404);
      expect(refusal(await attach(scope, hive, { metastore: basic }))[0]).toBe(404);
      expect((await deleteSecret(scope, basic)).status).toBe(201);
    });

    it('must belong to the same owner, in every position', async () => {
      const stranger = await people.tenant();
      const strangerAdmin = await people.admin(stranger);
      const theirs = await people.workspace(strangerAdmin);
      const [hive, glue, foreignHive] = [
        await catalog('hive'),
        await catalog('glue'),
        await catalog('hive', strangerAdmin),
      ];
      const [basic, keys] = [await secret(scope, BASIC), await secret(scope, KEYS)];
      const own = await attached(scope, hive, { metastore: basic });
      const foreign = {
        metastore: await secret(scope, BASIC, strangerAdmin, theirs),
        storage: await secret(scope, KEYS, strangerAdmin, theirs),
      };
      const strange = [foreign];
      if (scope === 'workspace') {
        const other = await people.workspace(admin);
        strange.push({
          metastore: await secret(scope, BASIC, admin, other),
          storage: await secret(scope, KEYS, admin, other),
        });
      }
      if (scope === 'user') {
        const user = await member();
        strange.push({ metastore: await secret(scope, BASIC, user), storage: await secret(scope, KEYS, user) });
      }
      const second = await catalog('hive');
      for (const { metastore, storage } of strange) {
        expect(refusal(await attach(scope, second, { metastore: basic, storage }))[0]).toBe(404);
        expect(refusal(await attach(scope, second, { metastore, storage: keys }))[0]).toBe(404);
        expect(refusal(await update(scope, own, { metastore }))[0]).toBe(404);
        expect(refusal(await update(scope, own, { storage }))[0]).toBe(404);
      }
      expect(refusal(await attach(scope, glue, { storage: foreign.storage }))[0]).toBe(404);
      expect(refusal(await attach(scope, foreignHive, { metastore: basic }))[0]).toBe(404);
      // The other tenant cannot change these attachments either.
      expect(refusal(await update(scope, own, { metastore: foreign.metastore }, strangerAdmin))[0]).toBe(404);
      expect(refusal(await detach(scope, own, strangerAdmin))[0]).toBe(404);
      if (scope !== 'workspace') expect(await ids(scope, '', strangerAdmin)).toEqual([]);
      expect(await ids(scope)).toEqual([own]);
    });
  });

  it('are chosen by the nearest scope, for metastore and storage separately', async () => {
    const user = await member();
    const hive = await catalog('hive');
    const whose = { tenant: admin, workspace: admin, user };
    const made = {} as Record<ScopeName, { metastore: number; storage: number }>;
    for (const scope of SCOPES) {
      made[scope] = {
        metastore: await secret(scope, BASIC, whose[scope]),
        storage: await secret(scope, KEYS, whose[scope]),
      };
    }
    // All combinations of the three scopes, each with no secret, a metastore secret, a storage secret or both.
    const choices = ['neither', 'metastore', 'storage', 'both'] as const;
    const combinations = choices.flatMap((ofTenant) =>
      choices.flatMap((ofWorkspace) =>
        choices.map((ofUser) => ({ tenant: ofTenant, workspace: ofWorkspace, user: ofUser })),
      ),
    );
    for (const chosen of combinations) {
      const has = (scope: ScopeName, kind: string) => chosen[scope] === kind || chosen[scope] === 'both';
      const present: [ScopeName, number][] = [];
      for (const scope of SCOPES.filter((one) => chosen[one] !== 'neither')) {
        const id = await attached(scope, hive, made[scope], whose[scope]);
        present.push([scope, id]);
        if (chosen[scope] === 'both') continue;
        const without = chosen[scope] === 'storage' ? { metastore: null } : { storage: null };
        expect((await update(scope, id, without, whose[scope])).status).toBe(201);
      }
      const expected = (kind: 'metastore' | 'storage') => {
        const scope = (['user', 'workspace', 'tenant'] as const).find((one) => has(one, kind));
        return scope === undefined ? null : expect.objectContaining({ scope, id: made[scope][kind] });
      };
      expect(await nearest(hive, user)).toEqual({ metastore: expected('metastore'), storage: expected('storage') });
      for (const [scope, id] of present) await detach(scope, id, whose[scope]);
    }
  });

  it('are never those of another user, not even for administrators, nor of another workspace or tenant', async () => {
    const user = await member();
    const hive = await catalog('hive');
    await attached('user', hive, { metastore: await secret('user', BASIC, user) }, user);
    const shared = await secret('workspace', BASIC);
    await attached('workspace', hive, { metastore: shared });
    expect((await nearest(hive, admin)).metastore).toMatchObject({ scope: 'workspace', id: shared });
    expect((await nearest(hive, user)).metastore).toMatchObject({ scope: 'user' });
    const none = { metastore: null, storage: null };
    expect(await nearest(hive, admin, await people.workspace(admin))).toEqual(none);
    expect(await nearest(hive, user, workspace, await people.tenant())).toEqual(none);
  });

  it('return their values, and have another key after a change', async () => {
    const hive = await catalog('hive');
    const service = api.app.get(CatalogSecretsService, { strict: false });
    const { manager } = api.app.get(DataSource);
    const scope = { tenantId: tenant, userId: admin.userId, username: 'x' };
    const place = { workspaceId: workspace, name: 'x', description: null, active: true };
    for (const name of SCOPES) {
      const id = await secret(name, BASIC);
      await attached(name, hive, { metastore: id });
      const { metastore } = await nearest(hive);
      expect(metastore).toMatchObject({ scope: name, id });
      const { username, password } = BASIC;
      expect(await service.reveal(autocommit(manager), { ...scope, workspace: place }, metastore as never)).toEqual({
        type: 'HIVE BASIC',
        values: { username, password },
      });
      const keys = new Set([metastore?.key]);
      for (const description of ['one', 'two']) {
        const query = name === 'workspace' ? `workspace_id=${workspace}&` : '';
        const changed = await admin.call('PUT', `/${name}/secret?${query}${name}_secret_id=${id}`, {
          secret_type: BASIC.secret_type,
          description,
        });
        expect(changed.status).toBe(201);
        keys.add((await nearest(hive)).metastore?.key);
      }
      expect(keys.size).toBe(3);
    }
  });

  it('are sent only to the servers they were attached for, until their owner attaches them again', async () => {
    const user = await member();
    const place = { workspaceId: workspace, name: 'x', description: null, active: true };
    const scope = { tenantId: tenant, userId: user.userId, username: 'x', workspace: place };
    const opened = async (catalogId: number) => {
      const { manager } = api.app.get(DataSource);
      const { metastore } = await nearest(catalogId, user);
      return api.app
        .get(CatalogSecretsService, { strict: false })
        .reveal(autocommit(manager), scope, metastore as never);
    };
    const change = async (type: 'hive' | 'unity', id: number, body: object) =>
      expect((await admin.call('PUT', `/metastore/catalog/${type}?metastore_catalog_id=${id}`, body)).status).toBe(201);

    const unity = await catalog('unity');
    await attached('tenant', unity, { metastore: await secret('tenant', TOKEN) });
    const id = await attached('user', unity, { metastore: await secret('user', TOKEN, user) }, user);
    await change('unity', unity, { description: 'the same servers', default_catalog: 'another' });
    await expect(opened(unity)).resolves.toMatchObject({ values: { token: TOKEN.token } });
    await change('unity', unity, { endpoint: 'https://unity.other.example' });
    // The secrets of the tenant do not silently replace them either.
    await expect(opened(unity)).rejects.toMatchObject({ kind: 'conflict', code: 'CATALOG_SECRET.OUTDATED' });
    expect((await nearest(unity, admin)).metastore).toMatchObject({ scope: 'tenant', isOutdated: false });
    expect((await update('user', id, { storage: null }, user)).status).toBe(201);
    await expect(opened(unity)).resolves.toMatchObject({ values: { token: TOKEN.token } });

    const hive = await catalog('hive');
    await attached('user', hive, { metastore: await secret('user', BASIC, user) }, user);
    await attached('workspace', hive, { metastore: await secret('workspace', BASIC) });
    await change('hive', hive, { coreSiteXml: configurationXml({ 'fs.s3a.path.style.access': 'true' }) });
    await expect(opened(hive)).resolves.toMatchObject({ type: 'HIVE BASIC' });
    await change('hive', hive, { coreSiteXml: configurationXml({ 'fs.s3a.endpoint': 'https://s3.other.example' }) });
    await expect(opened(hive)).rejects.toMatchObject({ code: 'CATALOG_SECRET.OUTDATED' });
    expect((await nearest(hive, admin)).metastore).toMatchObject({ scope: 'workspace', isOutdated: true });
  });

  it('of users can be seen and detached by administrators, but changed by the user only', async () => {
    const [user, other] = [await member(), await member()];
    const hive = await catalog('hive');
    const id = await attached('user', hive, { metastore: await secret('user', BASIC, user) }, user);
    const own = await attached('user', hive, { metastore: await secret('user', BASIC) });
    expect(await ids('user', '', user)).toEqual([id]);
    expect(await ids('user', '', other)).toEqual([]);
    expect(await ids('user', `user_id=${user.userId}`, other)).toEqual([]);
    expect(await ids('user')).toEqual([own, id]);
    expect(await ids('user', `user_id=${user.userId}`)).toEqual([id]);
    const mine = await secret('user', BASIC);
    expect(refusal(await update('user', id, { metastore: mine }))).toEqual([404, 'USER_CATALOG_SECRET.NOT_FOUND']);
    expect(refusal(await update('user', id, { storage: null }, other))[0]).toBe(404);
    expect(refusal(await detach('user', id, other))[0]).toBe(404);
    expect((await detach('user', id)).status).toBe(201);
    expect(await ids('user', '', user)).toEqual([]);
    const again = await attached('user', hive, { metastore: await secret('user', BASIC, user) }, user);
    expect((await detach('user', again, user)).status).toBe(201);
  });

  it('of a user belong to the tenant in which they are attached', async () => {
    const elsewhere = await people.tenant();
    const userId = await people.user([
      ['USER', tenant],
      ['USER', elsewhere],
    ]);
    const [here, there] = [await people.as(userId, tenant), await people.as(userId, elsewhere)];
    const hive = await catalog('hive');
    const foreign = await secret('user', BASIC, there);
    expect(refusal(await attach('user', hive, { metastore: foreign }, here))[0]).toBe(404);
    const id = await attached('user', hive, { metastore: await secret('user', BASIC, here) }, here);
    expect(await ids('user', '', there)).toEqual([]);
    expect(refusal(await update('user', id, { metastore: foreign }, here))[0]).toBe(404);
    expect(refusal(await detach('user', id, there))[0]).toBe(404);
  });

  it('of tenants and workspaces are changed by their administrators', async () => {
    const user = await member();
    const manager = await people.as(await people.user([['CAN MANAGE CLUSTER', tenant]]), tenant);
    const hive = await catalog('hive');
    const basic = await secret('tenant', BASIC);
    expect(refusal(await attach('tenant', hive, { metastore: basic }, user))[0]).toBe(403);
    const id = await attached('tenant', hive, { metastore: basic }, manager);
    expect(await ids('tenant', '', user)).toEqual([id]);
    for (const caller of [user, manager]) {
      expect(refusal(await update('tenant', id, { metastore: basic }, caller))[0]).toBe(403);
      expect(refusal(await detach('tenant', id, caller))[0]).toBe(403);
      const shared = await secret('workspace', BASIC);
      expect(refusal(await attach('workspace', hive, { metastore: shared }, caller))[0]).toBe(403);
      expect(refusal(await list('workspace', '', caller))[0]).toBe(403);
    }
  });

  it('of all workspaces that the caller may see are listed without naming one', async () => {
    const [hive, glue, place] = [await catalog('hive'), await catalog('glue'), await people.workspace(admin)];
    const here = await attached('workspace', hive, { metastore: await secret('workspace', BASIC) });
    const keys = await secret('workspace', KEYS, admin, place);
    const there = await attached('workspace', glue, { storage: keys });
    const user = await member();
    const seenBy = async (caller: Caller): Promise<number[]> =>
      (await caller.call('GET', path('workspace'))).body.data.map(
        (one: Record<string, number>) => one['metastore_catalog_secret_workspace_id'],
      );
    expect(await seenBy(admin)).toEqual([there, here]);
    expect(await seenBy(user)).toEqual([]);
    const shared = { tenant_id: tenant, workspace_id: place, user_id: user.userId, permission_id: PERMISSION_ID.VIEW };
    await insertRow(api.database.manager, WorkspaceUser, shared);
    expect(await seenBy(user)).toEqual([there]);
  });

  it('of a disabled workspace stay as they are', async () => {
    const [hive, glue] = [await catalog('hive'), await catalog('glue')];
    const [basic, keys] = [await secret('workspace', BASIC), await secret('workspace', KEYS)];
    const id = await attached('workspace', hive, { metastore: basic });
    expect((await admin.call('PUT', `/workspace/disable?workspace_id=${workspace}`)).status).toBe(201);
    for (const answer of [
      await attach('workspace', glue, { storage: keys }),
      await update('workspace', id, { storage: keys }),
      await detach('workspace', id),
    ]) {
      expect(refusal(answer)[1]).toBe('WORKSPACE.DISABLED');
    }
    expect(await ids('workspace')).toEqual([id]);
  });
});
