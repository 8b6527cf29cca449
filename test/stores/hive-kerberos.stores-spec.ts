import { readFileSync } from 'node:fs';
import { parseHiveSite } from '../../libs/metastore-clients/hive-site';
import { parseKrb5Conf } from '../../libs/metastore-clients/krb5-conf';
import type { MetastoreClient } from '../../libs/metastore-clients/metastore-client';
import { openMetastore } from '../../libs/metastore-clients/open-metastore';
import { OutboundPolicy } from '../../libs/outbound-policy/outbound-policy';
import { eventually } from '../harness/eventually';
import { HiveMetastore } from '../harness/hive-metastore';
import { KerberosRealm } from '../harness/kerberos-realm';
import { SharedPlatform } from '../e2e/harness/shared-platform';
import { hiveSite } from '../samples/metastore-catalog';

const outbound = new OutboundPolicy({ schemes: ['https'], allowedClasses: ['loopback'] });
const never = new AbortController().signal;
const PRINCIPAL = 'hive/127.0.0.1';
const SERVICE = 'hive/_HOST@EXAMPLE.ORG';

function siteOf(uri: string, service = SERVICE): string {
  return hiveSite(uri, {
    'hive.metastore.sasl.enabled': 'true',
    'hive.metastore.kerberos.principal': service,
  });
}

jest.setTimeout(600_000);

describe('a Hive metastore with Kerberos', () => {
  let realm: KerberosRealm;
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    realm = await KerberosRealm.start([PRINCIPAL, 'spark/node1', 'ada']);
  });
  afterAll(() => realm?.stop());
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  const metastore = async (protection: 'authentication' | 'integrity' | 'privacy'): Promise<HiveMetastore> => {
    const started = await HiveMetastore.start({ kerberos: { realm, principal: PRINCIPAL, protection } });
    ends.push(() => started.stop());
    return started;
  };
  const keytab = () => readFileSync(realm.keytab).toString('base64');
  const clientOf = (
    { uri }: Pick<HiveMetastore, 'uri'>,
    { principal = 'ada', service = SERVICE, conf = realm.conf, callMs = 60_000 } = {},
  ): MetastoreClient => {
    const { uris, login } = parseHiveSite({ hiveSiteXml: siteOf(uri, service) });
    const target = { kind: 'hive' as const, uris, login, krb5: parseKrb5Conf(conf) };
    const client = openMetastore(
      target,
      { principal, keytab: keytab() },
      { outbound, timeouts: { callMs, requestMs: callMs } },
    );
    ends.push(() => client.close());
    return client;
  };
  const schemas = async (client: MetastoreClient): Promise<string[]> =>
    (await client.listSchemas(null, never)).map(({ name }) => name);

  it.each(['authentication', 'integrity', 'privacy'] as const)('is browsed with %s', async (protection) => {
    const server = await metastore(protection);
    const client = clientOf(server);
    // The metastore listens before its database has tables.
    await eventually(() => schemas(client).catch(() => null), { timeoutMs: 120_000 });
    expect(await schemas(client)).toEqual(['default']);
    expect(await client.listTables({ catalog: null, schema: 'default' }, never)).toEqual([]);
    expect(await schemas(clientOf(server, { principal: 'spark/node1@EXAMPLE.ORG' }))).toEqual(['default']);
  });

  it('reports the errors of Kerberos', async () => {
    const server = await metastore('authentication');
    const client = clientOf(server);
    await eventually(() => schemas(client).catch(() => null), { timeoutMs: 120_000 });
    await expect(schemas(clientOf(server, { principal: 'bob' }))).rejects.toMatchObject({
      fault: 'denied',
      message: expect.stringContaining('keytab has no usable key of bob@EXAMPLE.ORG'),
    });
    await expect(schemas(clientOf(server, { service: 'hive/elsewhere@EXAMPLE.ORG' }))).rejects.toMatchObject({
      fault: 'denied',
      message: expect.stringContaining('hive/elsewhere@EXAMPLE.ORG not found'),
    });
    const gone = realm.conf.replace(/kdc = .*/, 'kdc = 127.0.0.1:1');
    await expect(schemas(clientOf(server, { conf: gone }))).rejects.toMatchObject({
      fault: 'unreachable',
      message: expect.stringMatching(/cannot contact any kdc/i),
    });
  });

  it('is browsed by users with the attached secret', async () => {
    const starting = metastore('authentication');
    const platform = await SharedPlatform.join('stores', 'hive-kerberos');
    ends.push(() => platform.close());
    const { uri } = await starting;
    const client = await platform.admin();
    const made = async (path: string, id: string, body: object) => Number((await client.post(path, body))[id]);
    const catalogId = await made('/metastore/catalog/hive', 'metastore_catalog_id', {
      name: 'guarded',
      hiveSiteXml: siteOf(uri),
      krb5Conf: realm.conf,
    });
    const secret = { secret_type: 'HIVE KERBEROS', principal: 'ada', keytab: keytab() };
    const validate = (secret_details: object) =>
      client.post('/metastore/catalog/secret/tenant/validate', {
        secret: { secret_details },
        metastore: { metastore_id: catalogId },
      });
    await eventually(async () => (await validate(secret)).validation_status === 'VALID', { timeoutMs: 120_000 });
    expect(await validate(secret)).toMatchObject({ validation_message: 'The metastore listed 1 schemas.' });
    expect(await validate({ ...secret, principal: 'bob' })).toMatchObject({
      validation_status: 'INVALID',
      validation_message: expect.stringContaining('keytab has no usable key of bob@EXAMPLE.ORG'),
    });
    expect(await validate({ secret_type: 'HIVE BASIC', username: 'ada', password: 'word' })).toMatchObject({
      validation_status: 'INVALID',
      validation_message: expect.stringContaining('requires a secret of type HIVE KERBEROS'),
    });
    await made('/metastore/catalog/secret/tenant', 'metastore_catalog_secret_tenant_id', {
      metastore_catalog_id: catalogId,
      metastore_secrets_tenant_id: await made('/tenant/secret', 'tenant_secret_id', { name: 'keys', ...secret }),
    });
    const workspace = await made('/workspace', 'workspace_id', { name: 'tables' });
    const schemas = await client.request('GET', `/metastore/${catalogId}/schemas`, {
      query: { workspace_id: workspace },
    });
    expect(schemas).toMatchObject({ status: 200, body: [{ name: 'default' }] });
  });

  it('does not wait for a KDC that does not respond', async () => {
    const server = await metastore('authentication');
    await realm.halt();
    ends.push(() => realm.resume());
    await expect(schemas(clientOf(server, { callMs: 20_000 }))).rejects.toMatchObject({
      fault: expect.stringMatching(/unreachable|timeout/),
    });
  });
});
