import { OutboundPolicy } from '../outbound-policy/outbound-policy';
import { FakeGlue } from '../../test/fakes/metastores/fake-glue';
import { FakeUnity } from '../../test/fakes/metastores/fake-unity';
import { freePort } from '../../scripts/embedded/ports.mjs';
import { type MetastoreSecret, type MetastoreTarget, openMetastore } from './open-metastore';

describe('openMetastore', () => {
  const outbound = new OutboundPolicy({ schemes: ['http'], allowedClasses: ['loopback'] });
  const never = new AbortController().signal;
  const keys = {
    aws_access_key_id: 'AKIAEXAMPLE',
    aws_secret_access_key: 'the-secret',
    aws_default_region: 'eu-west-1',
  };
  const open = (target: MetastoreTarget, secret: MetastoreSecret) => openMetastore(target, secret, { outbound });

  it('opens Unity Catalog with a token', async () => {
    const unity = await FakeUnity.start({ catalogs: { main: { schemas: { sales: {} } } }, token: 'token-1' });
    const client = open({ kind: 'unity', endpoint: unity.url }, { token: 'token-1' });
    expect(await client.listSchemas('main', never)).toMatchObject([{ name: 'sales' }]);
    client.close();
    await unity.stop();
  });

  it('opens Glue with a key pair', async () => {
    const glue = await FakeGlue.start({ databases: { sales: {} }, accessKeyId: 'AKIAEXAMPLE' });
    const client = open({ kind: 'glue', endpoint: glue.url }, keys);
    expect(await client.listSchemas(null, never)).toMatchObject([{ name: 'sales' }]);
    client.close();
    await glue.stop();
  });

  it('opens a Hive metastore', async () => {
    const uris = [{ host: '127.0.0.1', port: await freePort() }];
    const client = open({ kind: 'hive', uris, login: { kind: 'none', tellsUser: true }, krb5: null }, {});
    await expect(client.listSchemas(null, never)).rejects.toMatchObject({ fault: 'unreachable' });
    client.close();
  });

  it.each<[MetastoreTarget, MetastoreSecret, string]>([
    [{ kind: 'unity', endpoint: 'http://127.0.0.1' }, {}, 'token'],
    [{ kind: 'unity', endpoint: 'http://127.0.0.1' }, { token: '' }, 'token'],
    [{ kind: 'glue', endpoint: null }, { ...keys, aws_secret_access_key: '' }, 'aws_secret_access_key'],
    [{ kind: 'glue', endpoint: null }, { token: 'token-1' }, 'aws_default_region'],
  ])('refuses for %j a secret that lacks a field', (target, secret, field) => {
    const error = expect.objectContaining({
      fault: 'denied',
      message: `${field} is required: the secret does not contain it.`,
    });
    expect(() => open(target, secret)).toThrow(error);
  });
});
