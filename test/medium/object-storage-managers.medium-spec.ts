import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import { generateKeyPairSync } from 'node:crypto';
import { BillingModule } from '../../src/modules/execution/billing/billing.module';
import { ClustersApiModule } from '../../src/modules/execution/clusters/clusters.api.module';
import { RunsModule } from '../../src/modules/execution/runs/runs.module';
import { EnvironmentsApiModule } from '../../src/modules/infrastructure/environments/environments.api.module';
import { StorageApiModule } from '../../src/modules/infrastructure/storage/storage.api.module';
import { CLOUD_PROVIDER_ID, CREDENTIAL_TYPE_ID } from '../../src/modules/foundation/reference-data/reference-data';
import { TenantSecretsService } from '../../src/modules/foundation/secrets/tenant-secrets.service';
import { encodedCredentials } from '../samples/sample';
import { changeMeanwhile } from './harness/changing-cluster';
import { type Caller, People } from './harness/people';
import { apiOf } from './harness/test-api';
import { makeTenancy, type Tenancy } from './harness/records';
import { setClusterStatus } from './harness/statuses';
import type { ClusterStatus } from '../../src/modules/execution/clusters/model/cluster-state';
import { autocommit } from '../harness/autocommit';

const MANAGERS = '/object_storage_managers';
const MANAGER = '/object_storage_manager';
const SECRET = 'hush-hush';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const S3_KEYS = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: SECRET };
const CREDENTIALS: Record<string, Record<string, string>> = {
  customS3: { ...S3_KEYS, S3_ENDPOINT: 'https://store.example.org:9000' },
  onPremBasicAuth: { USERNAME: 'root@pam', PASSWORD: SECRET },
  awsAccessSecretKeyPair: { ...S3_KEYS, AWS_DEFAULT_REGION: 'eu-west-1' },
  azureServicePrincipal: {
    ...{ CLIENT_ID: 'client', TENANT_ID: 'directory', CLIENT_SECRET: SECRET, SUBSCRIPTION_ID: 'subscription' },
    ...{ STORAGE_ACCOUNT_NAME: 'account', CONTAINER_NAME: 'container' },
  },
  googleServiceAccount: {
    ...{ TYPE: 'service_account', PROJECT_ID: 'p', PRIVATE_KEY_ID: 'k', PRIVATE_KEY: PEM, CLIENT_EMAIL: 'a@b.example' },
    ...{ CLIENT_ID: 'c', AUTH_URI: 'a', TOKEN_URI: 't', AUTH_PROVIDER_X509_CERT_URL: 'x', CLIENT_X509_CERT_URL: 'y' },
  },
};

// Real: PostgreSQL, guards, pipes, filters and the domains named below. No store is called.
describe('object storage managers', () => {
  const api = apiOf([IamModule, EnvironmentsApiModule, StorageApiModule, ClustersApiModule, BillingModule, RunsModule]);
  const people = new People(api);
  let mine: Tenancy;
  let admin: Caller;
  const ids: Record<string, number> = {};

  beforeAll(async () => {
    mine = await makeTenancy(api.database.manager, 'mine');
    admin = await people.admin(mine.tenantId);
    for (const type of Object.keys(CREDENTIALS)) ids[type] = await credentials(type, type.toLowerCase());
  });

  async function credentials(type: string, name: string, keys = CREDENTIALS[type], caller = admin): Promise<number> {
    const credential_type_id = CREDENTIAL_TYPE_ID[type as keyof typeof CREDENTIAL_TYPE_ID];
    const body = { name, credential_type_id, base64_encoded_credentials: encodedCredentials(keys ?? {}) };
    const answer = await caller.call('POST', '/credential_config', body);
    expect(answer.body).toMatchObject({ credentials_conf_id: expect.any(String) });
    return Number(answer.body.credentials_conf_id);
  }

  const bodyOf = (provider: keyof typeof CLOUD_PROVIDER_ID, type: string, more: object = {}) => ({
    name: people.unique('manager'),
    cloud_provider_id: CLOUD_PROVIDER_ID[provider],
    credentials_conf_id: ids[type],
    object_storage_bucket_name: 'landing-zone',
    ...more,
  });
  const create = async (body: object) => (await admin.call('POST', MANAGER, body)).body;
  const codeOf = async (method: string, path: string, body?: object) => {
    const answer = await admin.call(method, path, body);
    expect(JSON.stringify(answer.body)).not.toContain(SECRET);
    return [answer.status, answer.body.error_code];
  };

  it('are created for every provider with object stores, and read by id and name', async () => {
    const body = bodyOf('OnPrem', 'customS3', { description: 'raw data' });
    const written = await create(body);
    expect(written).toEqual({
      object_storage_manager_id: expect.stringMatching(/^\d+$/),
      name: body.name,
      description: 'raw data',
      cloud_provider_id: '3',
      credentials_conf_id: String(ids['customS3']),
      object_storage_bucket_name: 'landing-zone',
      tenant_id: mine.tenantId,
      created_by_user_id: String(admin.userId),
      modified_by_user_id: String(admin.userId),
      last_update_date: expect.any(String),
      from_date: expect.any(String),
      to_date: null,
    });
    const read = await admin.call('GET', `${MANAGER}?object_storage_manager_name=${body.name}`);
    expect(read.body).toMatchObject({
      object_storage_manager_id: Number(written.object_storage_manager_id),
      object_storage_manager_name: body.name,
      cloud_provider: { cloud_provider_id: 3, name: 'OnPrem' },
      credentials_config: {
        credentials_conf_id: ids['customS3'],
        name: 'customs3',
        credential_type: { credential_type_id: CREDENTIAL_TYPE_ID.customS3 },
      },
      object_storage_bucket_name: 'landing-zone',
      to_date: 'infinity',
    });
    const others = [
      ['AWS', 'awsAccessSecretKeyPair'],
      ['GCP', 'googleServiceAccount'],
      ['Azure', 'azureServicePrincipal'],
    ] as const;
    for (const [provider, type] of others) {
      expect(await create(bodyOf(provider, type))).toMatchObject({ object_storage_manager_id: expect.any(String) });
      const { body: page } = await admin.call('GET', `${MANAGERS}?cloud_provider=${provider.toLowerCase()}`);
      expect(page.result_set.total_objects).toBe(1);
    }
    expect((await admin.call('GET', `${MANAGERS}?cloud_provider=OCI`)).status).toBe(400);
  });

  it.each([
    ['OnPrem', 'onPremBasicAuth', {}, 'OBJECT_STORAGE_MANAGER.CREDENTIAL_TYPE'],
    ['OnPrem', 'awsAccessSecretKeyPair', {}, 'OBJECT_STORAGE_MANAGER.CREDENTIAL_TYPE'],
    ['AWS', 'customS3', {}, 'OBJECT_STORAGE_MANAGER.CREDENTIAL_TYPE'],
    ['OCI', 'customS3', {}, 'OBJECT_STORAGE_MANAGER.PROVIDER_UNSUPPORTED'],
    ['OnPrem', 'customS3', { cloud_provider_id: 99 }, 'CLOUD_PROVIDER.NOT_FOUND'],
    ['OnPrem', 'customS3', { object_storage_bucket_name: '../other' }, 'OBJECT_STORAGE.INVALID_REQUEST'],
    ['OnPrem', 'customS3', { object_storage_bucket_name: '' }, 'REQUEST.INVALID'],
    ['OnPrem', 'customS3', { bucket: 'x' }, 'REQUEST.INVALID'],
    ['OnPrem', 'customS3', { name: 'Not A Name' }, 'REQUEST.INVALID'],
  ] as const)('of %s with %s and %p are refused', async (provider, type, more, code) => {
    expect(await codeOf('POST', MANAGER, bodyOf(provider, type, more))).toEqual([400, code]);
  });

  it('accept only credentials of the tenant', async () => {
    const stranger = await people.admin(await people.tenant());
    const foreign = await credentials('customS3', 'foreign', CREDENTIALS['customS3'], stranger);
    const refused = [404, 'CREDENTIALS_CONF.NOT_FOUND'];
    expect(await codeOf('POST', MANAGER, bodyOf('OnPrem', 'customS3', { credentials_conf_id: foreign }))).toEqual(
      refused,
    );
  });

  it('are refused if the outbound policy forbids the endpoint', async () => {
    const id = await credentials('customS3', 'metadata');
    // The policy may have become stricter later: the operation for credentials would refuse this endpoint.
    const keys = { ...S3_KEYS, S3_ENDPOINT: 'http://169.254.169.254/' };
    const manager = api.database.manager;
    const secrets = api.app.get(TenantSecretsService, { strict: false });
    const sealed = await secrets.seal(autocommit(manager), mine.tenantId, 'credentials_confs', id, keys);
    await manager.query('UPDATE credentials_confs SET sealed = $2 WHERE credentials_conf_id = $1', [id, sealed]);
    const answer = await admin.call('POST', MANAGER, bodyOf('OnPrem', 'customS3', { credentials_conf_id: id }));
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'OBJECT_STORAGE.ADDRESS_REFUSED' } });
    expect(answer.body.error_message).toContain('metadata');
  });

  it('are updated, but not their provider and bucket', async () => {
    const { object_storage_manager_id: id } = await create(bodyOf('OnPrem', 'customS3'));
    const path = `${MANAGER}?object_storage_manager_id=${id}`;
    const other = await credentials('customS3', 'other-keys');
    const { status, body } = await admin.call('PUT', path, { description: 'changed', credentials_conf_id: other });
    expect([status, body.description, body.credentials_conf_id]).toEqual([201, 'changed', String(other)]);
    expect(await codeOf('PUT', path, {})).toEqual([400, expect.any(String)]);
    expect(await codeOf('PUT', path, { object_storage_bucket_name: 'other' })).toEqual([400, 'REQUEST.INVALID']);
    expect(await codeOf('PUT', path, { cloud_provider_id: 1 })).toEqual([400, 'REQUEST.INVALID']);
    expect(await codeOf('PUT', path, { credentials_conf_id: ids['onPremBasicAuth'] })).toEqual([
      400,
      'OBJECT_STORAGE_MANAGER.CREDENTIAL_TYPE',
    ]);
  });

  it('keep their credentials from being deleted, and are kept by clusters that use them', async () => {
    const keys = await credentials('customS3', 'kept');
    const { object_storage_manager_id: id, name } = await create(
      bodyOf('OnPrem', 'customS3', { credentials_conf_id: keys, description: 'raw data' }),
    );
    const credentialsPath = `/credential_config?credentials_conf_id=${keys}`;
    const inUse = await admin.call('DELETE', credentialsPath);
    expect(inUse).toMatchObject({ status: 400, body: { error_code: 'RECORD.IN_USE' } });
    expect(inUse.body.error_message).toContain(`"${name}"`);

    const path = `${MANAGER}?object_storage_manager_id=${id}`;
    const setStatus = (status: ClusterStatus) => setClusterStatus(api.database.manager, mine.clusterId, status);
    await api.database.query('UPDATE clusters SET min_instances = 1, max_instances = 1 WHERE cluster_id = $1', [
      mine.clusterId,
    ]);
    const cluster = `/cluster?cluster_id=${mine.clusterId}`;
    expect((await admin.call('PUT', cluster, { object_storage_manager_id: Number(id) })).status).toBe(409);
    await setStatus('DESTROYED');
    const updated = await admin.call('PUT', cluster, { object_storage_manager_id: Number(id) });
    expect(updated).toMatchObject({ status: 201, body: { object_storage_manager_id: id } });
    const unknown = await admin.call('PUT', cluster, { object_storage_manager_id: 999_999 });
    expect(unknown).toMatchObject({ status: 404, body: { error_code: 'OBJECT_STORAGE_MANAGER.NOT_FOUND' } });
    await setStatus('STOPPED');
    const kept = await admin.call('DELETE', path);
    expect(kept).toMatchObject({ status: 400, body: { error_code: 'RECORD.IN_USE' } });
    expect(kept.body.error_message).toContain('"mine" (STOPPED)');
    const read = (await admin.call('GET', cluster)).body;
    expect(read.object_storage_manager).toEqual({
      object_storage_manager_id: Number(id),
      object_storage_manager_name: name,
      description: 'raw data',
      cloud_provider: { cloud_provider_id: 3, name: 'OnPrem', description: expect.any(String) },
      credentials_config: {
        credentials_conf_id: keys,
        name: 'kept',
        description: null,
        credential_type: { credential_type_id: CREDENTIAL_TYPE_ID.customS3, name: expect.any(String) },
      },
      object_storage_bucket_name: 'landing-zone',
    });
    expect((await admin.call('GET', '/clusters')).body.data).toEqual([read]);
    await setStatus('DESTROYED');
    const record = { table: 'object_storage_managers', key: 'object_storage_manager_id', id: Number(id) };
    const deletion = () => admin.call('DELETE', path);
    expect((await changeMeanwhile(api.database, mine.clusterId, record, deletion)).status).toBe(201);
    expect((await admin.call('GET', path)).status).toBe(404);
    expect((await admin.call('DELETE', credentialsPath)).status).toBe(201);
  });
});
