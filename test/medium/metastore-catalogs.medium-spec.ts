import { configurationXml } from '../harness/configuration-xml';
import { hiveSite, unityDetails } from '../samples/metastore-catalog';
import { Estate, type Parts } from './harness/estate';
import { type Caller, People, refusal } from './harness/people';
import { makeTenancy } from './harness/records';
import { setClusterStatus } from './harness/statuses';
import { TestAgent } from './harness/test-agent';
import type { ClusterStatus } from '../../src/modules/execution/clusters/model/cluster-state';
import { wholeApi, type TestAnswer } from './harness/test-api';

const HIVE = '/metastore/catalog/hive';
const GLUE = '/metastore/catalog/glue';
const UNITY = '/metastore/catalog/unity';
const LIST = '/metastore/catalogs';
const KRB5 = '[realms]\nEXAMPLE.ORG = {\nkdc = kdc.example.org\n}';
const SECRET = 'hush-nobody-sees-this';

// Real: the whole API and PostgreSQL. Left out: the metastores, which no operation here calls.
describe('metastore catalogs', () => {
  const api = wholeApi();
  const people = new People(api);
  let admin: Caller;
  let tenantId: string;

  beforeEach(async () => {
    tenantId = await people.tenant();
    admin = await people.everywhere(tenantId);
  });

  const make = (path: string, body: object = {}): Promise<TestAnswer> =>
    admin.call('POST', path, { name: people.unique('catalog'), ...body });
  const idOf = ({ status, body }: TestAnswer): string => {
    expect([status, body]).toEqual([200, expect.anything()]);
    return String(body.metastore_catalog_id);
  };
  const read = async (id: string) => (await admin.call('GET', `${LIST}?metastore_catalog_id=${id}`)).body.data[0];
  const change = (path: string, id: string, body: object) =>
    admin.call('PUT', `${path}?metastore_catalog_id=${id}`, body);
  const remove = (path: string, id: string) => admin.call('DELETE', `${path}?metastore_catalog_id=${id}`);

  it('of Hive are created, changed and deleted, and list their files', async () => {
    const made = await make(HIVE, { name: 'sales-hive', hiveSiteXml: hiveSite(), krb5Conf: KRB5 });
    const id = idOf(made);
    expect(made.body).toMatchObject({
      name: 'sales-hive',
      description: null,
      catalog_type: 'HIVE',
      metastore_hive_catalog: {
        metastore_hive_catalog_id: id,
        metastore_secrets_tenant_id: null,
        object_storage_secrets_tenant_id: null,
      },
      tenant_id: tenantId,
      to_date: null,
    });
    const shown = async () => (await read(id)).metastore_details;
    expect(await shown()).toEqual({ hive_metastore_populated_keys: ['HIVE-SITE.XML', 'KRB5.CONF'] });
    const changed = await change(HIVE, id, { coreSiteXml: '<configuration/>', krb5Conf: null, description: 'ours' });
    expect(changed).toMatchObject({
      status: 201,
      body: {
        description: 'ours',
        metastore_details: { hive_metastore_populated_keys: ['HIVE-SITE.XML', 'CORE-SITE.XML'] },
      },
    });
    await change(HIVE, id, { name: 'renamed' });
    expect(await shown()).toEqual({ hive_metastore_populated_keys: ['HIVE-SITE.XML', 'CORE-SITE.XML'] });
    expect((await remove(HIVE, id)).status).toBe(201);
    expect(await read(id)).toBeUndefined();
    expect((await make(HIVE, { name: 'renamed', hiveSiteXml: hiveSite() })).status).toBe(200);
  });

  it('of Glue and Unity are created, changed and deleted', async () => {
    const glue = await make(GLUE, { description: 'of the account' });
    expect(glue.body).toMatchObject({
      catalog_type: 'AWS GLUE',
      metastore_glue_catalog: { metastore_glue_catalog_id: idOf(glue) },
    });
    expect(await read(idOf(glue))).toMatchObject({ catalog_type: 'AWS GLUE', metastore_details: {} });
    const unity = await make(UNITY, { ...unityDetails, additional_catalogs: ['sales'] });
    const id = idOf(unity);
    const details = { ...unityDetails, additional_catalogs: ['sales'] };
    expect(unity.body).toMatchObject({
      catalog_type: 'DATABRICKS UNITY',
      metastore_details: { metastore_unity_catalog_id: id, ...details },
    });
    const changed = await change(UNITY, id, { default_catalog: 'other', additional_catalogs: [] });
    expect(changed).toMatchObject({
      status: 201,
      body: { metastore_details: { ...unityDetails, default_catalog: 'other' } },
    });
    expect((await remove(UNITY, id)).status).toBe(201);
    expect((await remove(GLUE, idOf(glue))).status).toBe(201);
    expect((await admin.call('GET', LIST)).body.data).toEqual([]);
  });

  it('are listed and searched by type and part of the name', async () => {
    const hive = await make(HIVE, { name: 'a-hive', hiveSiteXml: hiveSite() });
    await make(GLUE, { name: 'b-glue' });
    const names = async (path: string) =>
      (await admin.call('GET', path)).body.data.map(({ name }: { name: string }) => name);
    expect(await names(LIST)).toEqual(['b-glue', 'a-hive']);
    expect(await names(`${LIST}?catalog_type=hive`)).toEqual(['a-hive']);
    expect(await names(`${LIST}?catalog_type=AWS%20GLUE&metastore_catalog_id=${idOf(hive)}`)).toEqual([]);
    expect(await names(`${LIST}/search?metastore_catalog_name=-`)).toEqual(['b-glue', 'a-hive']);
    expect(await names(`${LIST}/search?metastore_catalog_name=GLU&catalog_type=AWS%20GLUE`)).toEqual(['b-glue']);
    expect(await names(`${LIST}/search?metastore_catalog_name=GLU&catalog_type=HIVE`)).toEqual([]);
  });

  it('have unique names in a tenant, whatever their type', async () => {
    await make(GLUE, { name: 'mine' });
    const again = await make(HIVE, { name: 'mine', hiveSiteXml: hiveSite() });
    expect(refusal(again)).toEqual([409, 'RECORD.DUPLICATE_NAME']);
  });

  it('are created once under a key, in one transaction with one row of the audit log', async () => {
    const request = {
      token: admin.token,
      body: { name: people.unique('once') },
      headers: { 'idempotency-key': people.unique('catalog-once') },
    };
    const [first, again] = [await api.call('POST', GLUE, request), await api.call('POST', GLUE, request)];
    expect(first.body).toHaveProperty('metastore_glue_catalog');
    expect([again.status, again.body]).toEqual([200, first.body]);
    const [{ count }] = await api.database.query(
      `SELECT count(*) FROM audit_events WHERE operation = 'createGlueCatalog' AND tenant_id = $1`,
      [tenantId],
    );
    expect(Number(count)).toBe(1);
  });

  it('are changed and deleted by the operations of their type only', async () => {
    const id = idOf(await make(GLUE));
    expect(refusal(await change(HIVE, id, { hiveSiteXml: hiveSite() }))).toEqual([404, 'METASTORE_CATALOG.NOT_FOUND']);
    expect(refusal(await change(UNITY, id, { default_catalog: 'x' }))).toEqual([404, 'METASTORE_CATALOG.NOT_FOUND']);
    expect(refusal(await remove(HIVE, id))).toEqual([404, 'METASTORE_CATALOG.NOT_FOUND']);
    expect(refusal(await change(GLUE, id, {}))).toEqual([400, 'REQUEST.EMPTY_UPDATE']);
    expect((await read(id)).catalog_type).toBe('AWS GLUE');
  });

  it('store the files of Hive sealed, and never return them', async () => {
    const core = configurationXml({ 'fs.s3a.secret.key': SECRET });
    const made = await make(HIVE, { hiveSiteXml: hiveSite(), coreSiteXml: core });
    const changed = await change(HIVE, idOf(made), { description: 'x' });
    const listed = await admin.call('GET', LIST);
    expect(JSON.stringify([made.body, changed.body, listed.body])).not.toContain(SECRET);
    const dump = await api.database.query<{ row: string }[]>(
      `SELECT row(t.*)::text || encode(t.sealed, 'escape') AS row FROM metastore_catalogs t WHERE tenant_id = $1`,
      [tenantId],
    );
    expect(dump).toHaveLength(1);
    expect(dump[0]?.row).not.toContain(SECRET);
    const audited = await api.database.query<{ row: string }[]>(`SELECT row(t.*)::text AS row FROM audit_events t`);
    expect(JSON.stringify(audited)).not.toContain(SECRET);
    // A sealed value is bound to its row: it cannot be opened in another one.
    const other = idOf(await make(HIVE, { hiveSiteXml: hiveSite() }));
    await api.database.query(
      `UPDATE metastore_catalogs SET sealed = (SELECT sealed FROM metastore_catalogs WHERE metastore_catalog_id = $1)
       WHERE metastore_catalog_id = $2`,
      [idOf(made), other],
    );
    expect(refusal(await change(HIVE, other, { krb5Conf: null }))).toEqual([500, 'METASTORE_CATALOG.UNREADABLE']);
  });

  it.each([
    [HIVE, { hiveSiteXml: '<!DOCTYPE a [<!ENTITY b "c">]><configuration/>' }, 'METASTORE_CATALOG.INVALID_FILE'],
    [HIVE, { hiveSiteXml: hiveSite(), krb5Conf: 'include /etc/krb5.conf' }, 'METASTORE_CATALOG.INVALID_FILE'],
    [HIVE, { hiveSiteXml: hiveSite('thrift://169.254.169.254:9083') }, 'METASTORE_CATALOG.ENDPOINT_REFUSED'],
    [HIVE, { hiveSiteXml: hiveSite('thrift://2852039166:9083') }, 'METASTORE_CATALOG.ENDPOINT_REFUSED'],
    [HIVE, { hiveSiteXml: hiveSite('thrift://[fe80::1]:9083') }, 'METASTORE_CATALOG.ENDPOINT_REFUSED'],
    [
      HIVE,
      { hiveSiteXml: hiveSite(), krb5Conf: KRB5.replace('kdc.example.org', '169.254.169.254') },
      'METASTORE_CATALOG.ENDPOINT_REFUSED',
    ],
    [HIVE, {}, 'REQUEST.INVALID'],
    [HIVE, { hiveSiteXml: null }, 'REQUEST.INVALID'],
    [UNITY, { ...unityDetails, endpoint: 'https://a.example/?x' }, 'METASTORE_CATALOG.INVALID_ENDPOINT'],
    [UNITY, { ...unityDetails, endpoint: 'file:///etc' }, 'METASTORE_CATALOG.INVALID_ENDPOINT'],
    [UNITY, { ...unityDetails, endpoint: 'https://u:p@a.example' }, 'METASTORE_CATALOG.ENDPOINT_REFUSED'],
    [UNITY, { ...unityDetails, endpoint: 'http://169.254.169.254' }, 'METASTORE_CATALOG.ENDPOINT_REFUSED'],
    [UNITY, { ...unityDetails, storage_path: 'file:///tmp' }, 'METASTORE_CATALOG.INVALID_STORAGE_PATH'],
    [UNITY, { ...unityDetails, storage_path: 's3://u@bucket/x' }, 'METASTORE_CATALOG.INVALID_STORAGE_PATH'],
    [UNITY, { ...unityDetails, default_catalog: 'a.b' }, 'METASTORE_CATALOG.INVALID_CATALOG_NAME'],
    [UNITY, { ...unityDetails, additional_catalogs: ['main'] }, 'METASTORE_CATALOG.DUPLICATE_CATALOG'],
    [UNITY, { ...unityDetails, additional_catalogs: ['a', 'a'] }, 'REQUEST.INVALID'],
    [UNITY, { ...unityDetails, description: 'x'.repeat(1000) }, 'REQUEST.INVALID'],
  ])('refuse %s %j', async (path, body, code) => {
    expect(refusal(await make(path, body))).toEqual([400, code]);
    expect((await admin.call('GET', LIST)).body.data).toEqual([]);
  });

  describe('of a cluster', () => {
    let estate: Estate;
    let parts: Parts;

    beforeEach(async () => {
      estate = new Estate(people, admin);
      parts = await estate.parts();
    });

    const become = (clusterId: number, status: ClusterStatus) =>
      setClusterStatus(api.database.manager, clusterId, status);

    it('are returned with it, and cannot change until it is DESTROYED or in ERROR', async () => {
      const catalog = Number(idOf(await make(HIVE, { name: 'shared', hiveSiteXml: hiveSite() })));
      const id = await estate.id('cluster', parts, { metastore_catalog_id: catalog });
      expect((await estate.get('cluster', id)).body.metastore_catalog).toEqual({
        metastore_catalog_id: catalog,
        metastore_catalog_name: 'shared',
        description: null,
        metastore_catalog_type: { metastore_catalog_type_id: 1, name: 'HIVE', description: null },
      });
      for (const status of ['STOPPED', 'INITIATING', 'RUNNING'] as const) {
        await become(id, status);
        expect(refusal(await change(HIVE, String(catalog), { description: 'x' }))).toEqual([409, 'RECORD.IN_USE']);
        expect(refusal(await remove(HIVE, String(catalog)))).toEqual([400, 'RECORD.IN_USE']);
      }
      for (const status of ['DESTROYED', 'ERROR'] as const) {
        await become(id, status);
        expect((await change(HIVE, String(catalog), { description: status })).status).toBe(201);
      }
      expect((await remove(HIVE, String(catalog))).status).toBe(201);
      // The cluster keeps the reference to the deleted catalog, and is enabled only with another one, or none.
      await become(id, 'DESTROYED');
      expect((await admin.call('PUT', '/cluster/disable', { cluster_id: id })).status).toBeLessThan(300);
      expect(refusal(await admin.call('PUT', '/cluster/enable', { cluster_id: id }))).toEqual([
        409,
        'CLUSTER.REFERENCE_DELETED',
      ]);
    });

    it('are added to it and removed from it', async () => {
      const [one, other] = [idOf(await make(GLUE)), idOf(await make(UNITY, unityDetails))];
      const id = await estate.id('cluster', parts, { metastore_catalog_id: Number(one) });
      await become(id, 'DESTROYED');
      const catalogOf = async () => (await estate.get('cluster', id)).body.metastore_catalog?.metastore_catalog_id;
      expect((await estate.update('cluster', id, { metastore_catalog_id: other })).body).toMatchObject({
        metastore_catalog_id: other,
      });
      await estate.update('cluster', id, { min_instances: 1 });
      expect(await catalogOf()).toBe(Number(other));
      await estate.update('cluster', id, { metastore_catalog_id: null });
      expect(await catalogOf()).toBeUndefined();
    });

    it('must exist, belong to the tenant, and support its Spark version', async () => {
      const unity = Number(idOf(await make(UNITY, unityDetails)));
      const foreign = await (await people.admin(await people.tenant())).call('POST', GLUE, { name: 'theirs' });
      for (const id of [4711, Number(idOf(foreign))]) {
        const answer = await estate.create('cluster', parts, { metastore_catalog_id: id });
        expect(refusal(answer)).toEqual([404, 'METASTORE_CATALOG.NOT_FOUND']);
      }
      const answer = await estate.create('cluster', parts, { metastore_catalog_id: unity, spark_infra_version_id: 3 });
      expect(refusal(answer)).toEqual([400, 'CLUSTER.CATALOG_UNSUPPORTED']);
      const glue = Number(idOf(await make(GLUE)));
      const newest = await estate.create('cluster', parts, { metastore_catalog_id: glue, spark_infra_version_id: 8 });
      expect(newest.body.error_message).toMatch(
        /^Spark infra version v4\.3\.0-1 does not support .* Versions that do: v3\.5\.3-2, v3\.5\.9-1, v4\.1\.4-1\.$/,
      );
    });
  });

  it('reach the node of a run with their properties, or the reason why they are unusable', async () => {
    const tenancy = await makeTenancy(api.database.manager, people.unique('nodes'));
    admin = await people.everywhere(tenancy.tenantId);
    const site = hiveSite(undefined, { 'hive.metastore.connect.retries': '3', 'hive.exec.scratchdir': '/tmp' });
    const id = idOf(await make(HIVE, { name: 'shop', hiveSiteXml: site }));
    const give = (catalog: unknown) =>
      api.database.query('UPDATE clusters SET metastore_catalog_id = $1 WHERE cluster_id = $2', [
        catalog,
        tenancy.clusterId,
      ]);
    const agent = await TestAgent.ofNewNode(api, tenancy);
    await agent.assignRun(tenancy);
    const told = async () => (await agent.poll()).runs[0]?.spec.metastore;
    expect(await told()).toBeUndefined();
    await give(id);
    expect(await told()).toEqual({
      kind: 'hive',
      properties: {
        'hive.metastore.uris': 'thrift://metastore.example.org:9083',
        'hive.metastore.connect.retries': '3',
      },
    });
    // No request can do this: a cluster with nodes keeps its catalog.
    await api.database.query('UPDATE metastore_catalogs SET to_date = now() WHERE metastore_catalog_id = $1', [id]);
    expect(await told()).toEqual({
      kind: 'unusable',
      fault: 'The metastore catalog "shop" cannot be used: It was deleted. Assign another catalog to the cluster.',
    });
  });
});
