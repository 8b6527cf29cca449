import { configurationXml } from '../harness/configuration-xml';
import { FakeUnity, fakeUnityTable } from '../fakes/metastores/fake-unity';
import { HiveMetastore } from '../harness/hive-metastore';
import { hiveSite } from '../samples/metastore-catalog';
import { MemoryS3 } from './harness/memory-s3';
import { type Caller, People, refusal } from './harness/people';
import { insertPlain, makeTenancy } from './harness/records';
import { wholeApi, type TestAnswer } from './harness/test-api';

/** The id of the permission. */
const EDIT = 2;
const TOKEN = 'dapi-hush-nobody-sees-this';
const TABLES = Array.from({ length: 250 }, (_, index) => `t_${String(index).padStart(3, '0')}`);
const column = (name: string, type = 'string', comment: string | null = null) => ({ name, type, comment });
const KEYS = {
  aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  aws_secret_access_key: 'hush',
  aws_default_region: 'eu-west-1',
};

/** A column without a comment. */
const PLAIN = { type: 'column', comment: null, nullable: true };
/** Properties of a table. */
const SETTINGS = { comment: 'all of them', team: 'shop', 'api.token': 'hush' };

// Real: the whole API, PostgreSQL, a Hive metastore. Stand-ins: Unity Catalog, an S3 store.
describe('metastores', () => {
  const api = wholeApi();
  const people = new People(api);
  let admin: Caller;
  let tenant: string;
  let workspace: number;
  let unity: FakeUnity;
  let hive: HiveMetastore;
  let s3: MemoryS3;

  beforeAll(async () => {
    hive = await HiveMetastore.start();
    await hive.createDatabase('sales', { description: 'of the year' });
    const orders = {
      cols: [column('id', 'bigint', 'of the order'), column('who', 'struct<name:string,tags:array<string>>')],
    };
    await hive.createTables('sales', [
      ...TABLES.map((tableName) => ({ tableName })),
      { tableName: 'orders', sd: orders, partitionKeys: [column('day', 'date')], owner: 'ada', parameters: SETTINGS },
    ]);
    s3 = await MemoryS3.start();
    s3.put('warehouse', 'present', Buffer.from('x'));
    const delta = (name: string, more: object = {}) => ({
      ...fakeUnityTable(name, 0),
      table_type: 'EXTERNAL',
      table_id: `id-${name}`,
      storage_location: `s3://lake/${name}`,
      ...more,
    });
    const fields = [
      { name: 'id', type: 'long', nullable: false, metadata: {} },
      { name: 'kind', type: 'short', nullable: true, metadata: {} },
      { name: 'label', type: 'string', nullable: true, metadata: { __CHAR_VARCHAR_TYPE_STRING: 'varchar(9)' } },
    ];
    const schemaString = JSON.stringify({ type: 'struct', fields });
    const action = { metaData: { id: '1', schemaString, partitionColumns: [], configuration: {} } };
    for (const name of ['vended', 'refused']) {
      s3.put('lake', `${name}/_delta_log/${'0'.repeat(20)}.json`, Buffer.from(JSON.stringify(action)));
    }
    const lake = [
      delta('vended'),
      delta('refused'),
      delta('kept', { columns: fakeUnityTable('kept', 1).columns, storage_location: 'gs://lake/kept' }),
      delta('local', { storage_location: 'file:///tmp/local' }),
    ];
    const semi = { ...fakeUnityTable('semi'), columns: [{ name: 'v', type_text: 'variant', type_json: '"variant"' }] };
    unity = await FakeUnity.start({
      token: TOKEN,
      vended: {
        'id-vended': {
          aws_temp_credentials: {
            access_key_id: 'ASIAVENDED',
            secret_access_key: 'hush',
            session_token: 'for-a-while',
          },
          url: 's3://lake/vended',
        },
        'id-local': {},
      },
      catalogs: {
        main: { schemas: { crm: { tables: [...TABLES.map((name) => fakeUnityTable(name, 2)), semi] }, empty: {} } },
        lake: { schemas: { raw: { tables: lake } } },
        side: { schemas: {} },
        hidden: { schemas: { crm: {} } },
      },
    });
  });

  afterAll(() => Promise.all([hive.stop(), unity.stop(), s3.stop()]));

  beforeEach(async () => {
    tenant = await people.tenant();
    admin = await people.admin(tenant);
    workspace = await people.workspace(admin);
    unity.answerWith(null);
    unity.calls.length = 0;
  });

  const done = ({ status, body }: TestAnswer) => {
    expect([status, body]).toEqual([200, expect.anything()]);
    return body;
  };
  const create = async (kind: 'hive' | 'unity' | 'glue', body: object) => {
    const made = done(
      await admin.call('POST', `/metastore/catalog/${kind}`, { name: people.unique('catalog'), ...body }),
    );
    return Number(made.metastore_catalog_id);
  };
  const hiveCatalog = (port = hive.port, more: object = {}) =>
    create('hive', { hiveSiteXml: hiveSite(`thrift://127.0.0.1:${port}`), ...more });
  const unityCatalog = () =>
    create('unity', {
      endpoint: unity.url,
      default_catalog: 'main',
      additional_catalogs: ['side'],
      storage_path: 's3://warehouse/unity',
    });
  const secret = async (scope: 'tenant' | 'user', body: object = {}, caller = admin) => {
    const given = { name: people.unique('secret'), secret_type: 'DATABRICKS UNITY TOKEN', token: TOKEN, ...body };
    return Number(done(await caller.call('POST', `/${scope}/secret`, given))[`${scope}_secret_id`]);
  };
  const attach = async (scope: 'tenant' | 'user', catalogId: number, id: number, caller = admin) =>
    done(
      await caller.call('POST', `/metastore/catalog/secret/${scope}`, {
        metastore_catalog_id: catalogId,
        [`metastore_secrets_${scope}_id`]: id,
      }),
    );
  const openUnity = async () => {
    const id = await unityCatalog();
    await attach('tenant', id, await secret('tenant'));
    return id;
  };
  const browse = (id: number, what: string, query: Record<string, string | number> = {}, caller = admin) => {
    const params = new URLSearchParams({ workspace_id: String(workspace) });
    for (const [key, value] of Object.entries(query)) params.set(key, String(value));
    return caller.call('GET', `/metastore/${id}/${what}?${params.toString()}`);
  };
  const names = (answer: TestAnswer): string[] => done(answer).map(({ name }: { name: string }) => name);

  describe('of Hive', () => {
    it('list schemas, pages of tables with their owners, names, columns and a DDL', async () => {
      const id = await hiveCatalog();
      expect(done(await browse(id, 'catalogs'))).toMatchObject([{ name: 'hive', type: 'catalog' }]);
      expect(names(await browse(id, 'schemas'))).toEqual(['default', 'sales']);
      expect(done(await browse(id, 'schemas/search', { schema_name: 'ALE' }))).toMatchObject([
        { name: 'sales', full_name: 'sales', comment: 'of the year', catalog_name: null, type: 'schema' },
      ]);

      const first = await browse(id, 'tables', { schema_name: 'sales', limit: 100 });
      expect(names(first)).toEqual(['orders', ...TABLES.slice(0, 99)]);
      expect(first.body[0]).toMatchObject({ full_name: 'sales.orders', owner: 'ada', schema_name: 'sales' });
      expect(first.body[0].created_at).toBeGreaterThan(1_600_000_000_000);
      expect(first.headers.get('x-total-count')).toBe('251');
      const next = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
      expect(names(await admin.call('GET', next.replace('/api/v1', '')))).toEqual(TABLES.slice(99, 199));
      const last = await browse(id, 'tables', { schema_name: 'sales', limit: 100, pageNumber: 3 });
      expect([names(last), last.headers.get('link')]).toEqual([TABLES.slice(199), null]);

      expect(done(await browse(id, 'table_summaries'))).toHaveLength(251);
      const others = await browse(id, 'table_summaries', {
        cached_tables: TABLES.map((name) => `sales.${name}`).join(),
      });
      expect(done(others)).toEqual(['sales.orders']);
      const columns = await browse(id, 'columns', { schema_name: 'sales', table_name: 'orders' });
      expect(done(columns)).toEqual([
        { ...PLAIN, name: 'id', type_text: 'bigint', type_name: 'BIGINT', position: 0, comment: 'of the order' },
        {
          ...PLAIN,
          name: 'who',
          type_text: 'struct<name:string,tags:array<string>>',
          type_name: 'STRUCT',
          position: 1,
        },
        { ...PLAIN, name: 'day', type_text: 'date', type_name: 'DATE', position: 2, type: 'partition' },
      ]);
      expect(done(await browse(id, 'table', { schema_name: 'sales', table_name: 'orders' }))).toMatchObject({
        ...{ name: 'orders', full_name: 'sales.orders', owner: 'ada', type: 'table', format: 'hive' },
        ...{ comment: 'all of them', storage_location: expect.stringMatching(/^file:/) },
        properties: { team: 'shop', 'api.token': expect.stringContaining('redacted') },
        columns: columns.body,
      });
      const place = `/metastore/${id}/table_ddl?workspace_id=${workspace}`;
      const [entry] = done(await admin.call('POST', place, ['sales.orders']));
      expect(entry['sales.orders']).toMatch(/^CREATE (EXTERNAL )?TABLE `?sales`?\.`?orders`?/);
      expect(done(await browse(id, 'table_ddl', { cached_tables: 'sales.orders' }))).toEqual([entry]);
    });

    it('name missing objects in their errors', async () => {
      const id = await hiveCatalog();
      const missing = await browse(id, 'columns', { schema_name: 'sales', table_name: 'gone' });
      expect([missing.status, missing.body.error]).toEqual([404, expect.stringContaining('sales.gone')]);
      expect((await browse(id, 'tables', { schema_name: 'nowhere' })).status).toBe(404);
      const place = `/metastore/${id}/table_ddl?workspace_id=${workspace}`;
      expect((await admin.call('POST', place, ['sales.orders', 'sales.`a.b`'])).status).toBe(404);
      for (const names of [['orders'], ['a.b.c'], [''], [7], 'sales.orders', {}, ['x'.repeat(1601)]]) {
        expect((await admin.call('POST', place, names)).status).toBe(400);
      }
      expect(refusal(await browse(id, 'catalogs/search', { catalog_name: 'h' }))).toMatchObject([
        400,
        expect.anything(),
      ]);
    });

    it('that do not answer are named, and not called again for a while', async () => {
      const id = await hiveCatalog(1);
      for (let count = 0; count < 5; count += 1) expect((await browse(id, 'schemas')).status).toBe(500);
      const refused = await browse(id, 'schemas');
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([
        503,
        expect.stringMatching(/^([1-9]|10)$/),
      ]);
      expect(JSON.stringify(refused.body)).toContain('has not answered lately');
    });
  });

  describe('of Unity', () => {
    it('list the chosen catalogs and their content', async () => {
      const id = await openUnity();
      expect(names(await browse(id, 'catalogs'))).toEqual(['main', 'side']);
      expect(names(await browse(id, 'catalogs/search', { catalog_name: 'AI' }))).toEqual(['main']);
      expect(names(await browse(id, 'schemas'))).toEqual(['crm', 'empty']);
      expect(names(await browse(id, 'schemas', { catalog_name: 'side' }))).toEqual([]);
      expect((await browse(id, 'schemas', { catalog_name: 'hidden' })).status).toBe(404);
      const tables = await browse(id, 'tables/search', { catalog_name: 'main', schema_name: 'crm', table_name: '_24' });
      expect(names(tables)).toEqual(TABLES.slice(240));
      expect(tables.body[0]).toMatchObject({
        catalog_name: 'main',
        full_name: 'main.crm.t_240',
        owner: 'ada@example.org',
        updated_by: 'bob@example.org',
      });
      for (const searched of [
        await browse(id, 'schemas/search', { schema_name: 'crm' }),
        await browse(id, 'tables/search', { schema_name: 'crm', table_name: '_24' }),
      ]) {
        expect(refusal(searched)).toEqual([400, 'METASTORE.CATALOG_NEEDED']);
      }
      expect(names(await browse(id, 'functions'))).toEqual([]);
      expect(names(await browse(id, 'volumes', { schema_name: 'crm' }))).toEqual([]);
    });

    it('return the DDL of the other tables if one has a type that Spark lacks', async () => {
      const id = await openUnity();
      const ddl = (...cached: string[]) => browse(id, 'table_ddl', { cached_tables: cached.join() });
      const [one, two] = done(await ddl('crm.semi', 'crm.t_001'));
      expect(one['crm.semi']).toMatch(/^-- The table .*Spark has no type variant/);
      expect(two['crm.t_001']).toMatch(/^CREATE TABLE/);
      expect((await ddl('crm.semi')).status).toBe(400);
    });

    describe('with Delta tables whose columns are only in their log', () => {
      let id: number;
      let clusterId: number;
      let attachedId: number;
      const columns = (table_name: string) => browse(id, 'columns', { schema_name: 'raw', table_name });
      const COLUMNS = [
        { ...PLAIN, name: 'id', type_text: 'bigint', type_name: 'LONG', position: 0, nullable: false },
        { ...PLAIN, name: 'kind', type_text: 'smallint', type_name: 'SHORT', position: 1 },
        { ...PLAIN, name: 'label', type_text: 'varchar(9)', type_name: 'STRING', position: 2 },
      ];
      const conf = (cluster: number, ...entries: string[]) =>
        api.database.query('UPDATE clusters SET metastore_catalog_id = $2, spark_config = $3 WHERE cluster_id = $1', [
          cluster,
          id,
          { conf: entries },
        ]);
      const storageSecret = async () => {
        const keys = { name: people.unique('keys'), secret_type: 'AWS ACCESS SECRET KEY PAIR', ...KEYS };
        const { tenant_secret_id } = done(await admin.call('POST', '/tenant/secret', keys));
        return Number(tenant_secret_id);
      };

      beforeEach(async () => {
        const made = await makeTenancy(api.database.manager, people.unique('lake'));
        admin = await people.admin(made.tenantId);
        workspace = await people.workspace(admin);
        clusterId = made.clusterId;
        id = await create('unity', { endpoint: unity.url, default_catalog: 'lake', storage_path: 's3://lake/unity' });
        const attached = await attach('tenant', id, await secret('tenant'));
        attachedId = Number(attached.metastore_catalog_secret_tenant_id);
        await conf(clusterId, `spark.hadoop.fs.s3a.endpoint ${s3.url}`);
        s3.callers.clear();
      });

      it('are read from the log with credentials from Unity, on the S3 server of a cluster with the catalog', async () => {
        expect(done(await columns('vended'))).toEqual(COLUMNS);
        expect([...s3.callers]).toEqual(['ASIAVENDED for-a-while']);
        const [entry] = done(await browse(id, 'table_ddl', { cached_tables: 'raw.vended' }));
        expect(entry['raw.vended']).toContain('`id` bigint NOT NULL');
      });

      it('are read from the log with the storage secret if Unity gives no credentials, else return the error of Unity', async () => {
        const refused = await columns('refused');
        expect(refusal(refused)).toEqual([404, 'TABLE.MISSING']);
        expect(refused.body.error_message).toContain('EXTERNAL USE SCHEMA is needed');
        const stored = await storageSecret();
        const body = { metastore_catalog_secret_tenant_id: attachedId, object_storage_secrets_tenant_id: stored };
        expect((await admin.call('PUT', '/metastore/catalog/secret/tenant', body)).status).toBe(201);
        expect(done(await columns('refused'))).toEqual(COLUMNS);
        expect([...s3.callers]).toEqual([KEYS.aws_access_key_id]);
        // No credentials are requested if Unity has the columns.
        s3.callers.clear();
        expect(done(await columns('kept'))).toMatchObject([{ name: 'column_0', type_name: 'LONG' }]);
        expect(s3.callers.size).toBe(0);
        expect(refusal(await columns('local'))).toEqual([400, 'SECRET.OTHER_STORE']);
        const validated = await admin.call('POST', '/metastore/catalog/secret/tenant/validate', {
          secret: { secret_id: stored },
          metastore: { metastore_id: id },
        });
        expect(done(validated)).toMatchObject({ validation_status: 'VALID', storage_access_verified: true });
      });

      it('are read from the server of the bucket, and from none if clusters name different ones', async () => {
        const all = 'spark.hadoop.fs.s3a.endpoint=http://127.0.0.1:1';
        await conf(clusterId, all, `spark.hadoop.fs.s3a.bucket.lake.endpoint=${s3.url}`);
        expect(done(await columns('vended'))).toEqual(COLUMNS);
        const { manager } = api.database;
        const [{ cluster_id: _id, ...row }] = await manager.query('SELECT * FROM clusters WHERE cluster_id = $1', [
          clusterId,
        ]);
        const other = await insertPlain<{ cluster_id: string }>(manager, 'clusters', { ...row, name: 'another' });
        expect(done(await columns('vended'))).toEqual(COLUMNS);
        await conf(Number(other.cluster_id), all);
        s3.callers.clear();
        const refused = await columns('vended');
        expect(refusal(refused)).toEqual([400, 'METASTORE_CATALOG.AMBIGUOUS_S3_ENDPOINT']);
        expect(refused.body.error_message).toContain('"another"');
        expect(s3.callers.size).toBe(0);
      });
    });

    it('are called once, and again on refresh', async () => {
      const id = await openUnity();
      await Promise.all([browse(id, 'schemas'), browse(id, 'schemas'), browse(id, 'schemas', { limit: 1 })]);
      const asked = unity.calls.length;
      await browse(id, 'schemas', { limit: 1, pageNumber: 2 });
      expect(unity.calls).toHaveLength(asked);
      await browse(id, 'schemas', { refresh: 'true' });
      expect(unity.calls.length).toBeGreaterThan(asked);
    });

    it('refuse users without a secret, and do not share results between secrets', async () => {
      const id = await unityCatalog();
      expect(JSON.stringify((await browse(id, 'schemas')).body)).toContain('DATABRICKS UNITY TOKEN');
      await attach('tenant', id, await secret('tenant'));
      expect(names(await browse(id, 'schemas'))).toEqual(['crm', 'empty']);
      // The nearer secret is used at once, and Unity refuses it.
      await attach('user', id, await secret('user', { token: 'expired-hush' }));
      const refused = await browse(id, 'schemas');
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([
        400,
        expect.stringContaining('Invalid access token'),
      ]);
      expect(JSON.stringify(refused.body)).not.toContain('hush');
      const other = await people.admin(tenant);
      expect(names(await browse(id, 'schemas', {}, other))).toEqual(['crm', 'empty']);
    });

    it('need VIEW in the workspace and the own tenant', async () => {
      const id = await openUnity();
      const member = await people.as(await people.user([['USER', tenant]]), tenant);
      expect((await browse(id, 'schemas', {}, member)).status).toBe(403);
      const elsewhere = await people.tenant();
      const stranger = await people.admin(elsewhere);
      const place = Number((await stranger.call('POST', '/workspace', { name: 'theirs' })).body.workspace_id);
      expect((await browse(id, 'schemas', { workspace_id: place }, stranger)).status).toBe(404);
    });

    it('list their catalogs before one is chosen, for the owner of a secret', async () => {
      const mine = await secret('user');
      const fetch = (user_secret_id: number, endpoint = unity.url, caller = admin) =>
        caller.call('POST', '/metastore/catalog/unity/fetch', { endpoint, user_secret_id });
      expect(names(await fetch(mine))).toEqual(['hidden', 'lake', 'main', 'side']);
      expect((await fetch(mine, unity.url, await people.admin(tenant))).status).toBe(404);
      expect((await fetch(mine, 'http://169.254.169.254/')).status).toBe(400);
      expect((await fetch(await secret('user', { token: 'hush-wrong' }))).status).toBe(400);
    });
  });

  describe('validate secrets', () => {
    const validate = (scope: string, given: object, metastore: object, caller = admin) =>
      caller.call('POST', `/metastore/catalog/secret/${scope}/validate`, { secret: given, metastore });

    it('by listing schemas, before and after a secret and a catalog exist', async () => {
      const id = await unityCatalog();
      const details = { secret_type: 'DATABRICKS UNITY TOKEN', token: TOKEN };
      const valid = {
        secret_type: 'DATABRICKS UNITY TOKEN',
        metastore_type: 'DATABRICKS UNITY',
        validation_status: 'VALID',
        storage_access_verified: false,
        permissions_summary: { list: true, read: false, write: false },
      };
      const before = await validate(
        'user',
        { secret_details: details },
        { metastore_details: { endpoint: unity.url } },
      );
      expect(done(before)).toMatchObject(valid);
      const after = await validate('tenant', { secret_id: await secret('tenant') }, { metastore_id: id });
      expect(done(after)).toMatchObject(valid);
      const wrong = await validate('user', { secret_details: { ...details, token: 'x' } }, { metastore_id: id });
      expect(done(wrong)).toMatchObject({
        validation_status: 'INVALID',
        validation_message: expect.stringContaining('Invalid access token') as string,
        permissions_summary: { list: false },
      });
      const basic = { secret_type: 'HIVE BASIC', username: 'ada', password: 'hush' };
      const listed = await validate('user', { secret_details: basic }, { metastore_id: await hiveCatalog() });
      expect(done(listed)).toMatchObject({ validation_status: 'VALID', metastore_type: 'HIVE' });
    });

    it('of stores by writing, reading and deleting an object', async () => {
      const core = configurationXml({ 'fs.s3a.endpoint': s3.url });
      const hiveSiteXml = hiveSite(`thrift://127.0.0.1:${hive.port}`, {
        'hive.metastore.warehouse.dir': 's3a://warehouse/tables',
      });
      const id = await create('hive', { hiveSiteXml, coreSiteXml: core });
      const keys = { secret_type: 'AWS ACCESS SECRET KEY PAIR', ...KEYS };
      expect(done(await validate('user', { secret_details: keys }, { metastore_id: id }))).toMatchObject({
        validation_status: 'VALID',
        storage_access_verified: true,
        permissions_summary: { list: true, read: true, write: true },
      });
    });

    it.each([
      [
        'a type that opens nothing there',
        { secret_details: { secret_type: 'HIVE BASIC', username: 'a', password: 'b' } },
      ],
      ['neither id nor details', {}],
      [
        'a field of another type',
        { secret_details: { secret_type: 'DATABRICKS UNITY TOKEN', token: 'x', value: 'y' } },
      ],
      ['a missing field', { secret_details: { secret_type: 'DATABRICKS UNITY TOKEN' } }],
    ])('but not %s', async (_what, given) => {
      expect((await validate('user', given, { metastore_details: { endpoint: unity.url } })).status).toBe(400);
    });

    it('but do not send those of others to a server that the request names', async () => {
      const id = await openUnity();
      const mine = { metastore_details: { endpoint: unity.url } };
      const member = await people.as(await people.user([['USER', tenant]]), tenant);
      const ofTenant = { secret_id: await secret('tenant') };
      unity.calls.length = 0;
      expect(refusal(await validate('tenant', ofTenant, mine, member))).toEqual([403, 'SECRET.TRIED_ELSEWHERE']);
      expect(unity.calls).toEqual([]);
      expect(done(await validate('tenant', ofTenant, { metastore_id: id }, member))).toMatchObject({
        validation_status: 'VALID',
      });
      const made = await admin.call('POST', `/workspace/secret?workspace_id=${workspace}`, {
        name: 'here',
        secret_type: 'DATABRICKS UNITY TOKEN',
        token: TOKEN,
      });
      const ofWorkspace = { secret_id: Number(done(made).workspace_secret_id) };
      const given = { user_id: member.userId, permission_id: EDIT };
      expect((await admin.call('POST', `/ac/workspace/${workspace}/user`, given)).status).toBeLessThan(300);
      unity.calls.length = 0;
      expect((await validate('workspace', ofWorkspace, mine, member)).status).toBe(403);
      expect(unity.calls).toEqual([]);
      expect(done(await validate('workspace', ofWorkspace, { metastore_id: id }, member))).toMatchObject({
        validation_status: 'VALID',
      });
    });

    it('but not those of others', async () => {
      const target = { metastore_details: { endpoint: unity.url } };
      const other = await people.admin(tenant);
      expect((await validate('user', { secret_id: await secret('user') }, target, other)).status).toBe(404);
      const stranger = await people.admin(await people.tenant());
      expect((await validate('tenant', { secret_id: await secret('tenant') }, target, stranger)).status).toBe(404);
      const ofWorkspace = done(
        await admin.call('POST', `/workspace/secret?workspace_id=${workspace}`, {
          name: 'here',
          secret_type: 'DATABRICKS UNITY TOKEN',
          token: TOKEN,
        }),
      );
      const chosen = { secret_id: Number(ofWorkspace.workspace_secret_id) };
      expect(done(await validate('workspace', chosen, target))).toMatchObject({ validation_status: 'VALID' });
      const member = await people.as(await people.user([['USER', tenant]]), tenant);
      expect((await validate('workspace', chosen, target, member)).status).toBe(403);
      expect((await validate('workspace', chosen, target, stranger)).status).toBe(404);
    });
  });
});
