import { MachinePlacesRepository } from '../../src/modules/execution/clusters/provisioning/machine-places.repository';
import { CLOUD_PROVIDER_ID, CREDENTIAL_TYPE_ID } from '../../src/modules/foundation/reference-data/reference-data';
import { type Caller, People } from './harness/people';
import { makeNode, makeTenancy, type Tenancy } from './harness/records';
import { setClusterStatus, setNodeStatus } from './harness/statuses';
import { wholeApi } from './harness/test-api';
import { autocommit } from '../harness/autocommit';

const encoded = (values: object) => ({
  base64_encoded_credentials: { encoded: Buffer.from(JSON.stringify(values)).toString('base64') },
});

// Real: the whole API and PostgreSQL. Left out: the worker and its provider.
describe('a configuration that leads to machines', () => {
  const api = wholeApi();
  const people = new People(api);
  let caller: Caller;
  let tenancy: Tenancy;
  let nodeId: number;
  let placeId: number;
  let credentialsId: number;
  let made = 0;

  /** A cluster in ERROR with a node that may have a machine. */
  beforeEach(async () => {
    const { manager } = api.database;
    made += 1;
    tenancy = await makeTenancy(manager, `tenant ${made}`);
    caller = await people.as(await people.user([['PLATFORM ADMIN', null]]), tenancy.tenantId);
    nodeId = await makeNode(manager, tenancy, 1);
    // The tenancy's own environment has other users, too.
    credentialsId = await copiedCredentials();
    await api.database.query('UPDATE cloud_envs SET credentials_conf_id = $2 WHERE cloud_env_id = $1', [
      tenancy.cloudEnvId,
      credentialsId,
    ]);
    placeId = await new MachinePlacesRepository(api.database).watch(autocommit(manager), {
      tenant_id: tenancy.tenantId,
      credentials_conf_id: credentialsId,
      cloud_provider_id: CLOUD_PROVIDER_ID.OnPrem,
      ...{ endpoint: 'https://pve.example.org:8006', account: '', region: '' },
    });
    await api.database.query('UPDATE cluster_nodes SET machine_place_id = $2 WHERE node_id = $1', [nodeId, placeId]);
    await setNodeStatus(manager, nodeId, 'ERROR');
    await setClusterStatus(manager, tenancy.clusterId, 'ERROR');
  });

  const env = (body: object) =>
    caller.call('PUT', `/cluster/cloud/environment?cloud_env_id=${tenancy.cloudEnvId}`, body);
  const cluster = (body: object) => caller.call('PUT', `/cluster?cluster_id=${tenancy.clusterId}`, body);
  const remove = (path: string) => caller.call('DELETE', path);
  const removeCredentials = () => remove(`/credential_config?credentials_conf_id=${credentialsId}`);

  async function copiedCredentials(): Promise<number> {
    const [copy] = await api.database.query<{ credentials_conf_id: number }[]>(
      `INSERT INTO credentials_confs (tenant_id, name, credential_type_id, sealed)
       SELECT tenant_id, 'other', credential_type_id, sealed FROM credentials_confs WHERE credentials_conf_id = $1
       RETURNING credentials_conf_id`,
      [tenancy.credentialsConfId],
    );
    return copy?.credentials_conf_id ?? 0;
  }

  it('does not change while a cluster in ERROR may have machines, and the refusal names the cluster', async () => {
    const credential_config_id = tenancy.credentialsConfId;
    for (const change of [{ credential_config_id }, { endpoint: 'https://192.0.2.7:8006' }]) {
      const refused = await env(change);
      expect(refused).toMatchObject({
        status: 409,
        body: {
          error_code: 'RECORD.IN_USE',
          details: { clusters: [{ name: `tenant ${made}`, status: 'ERROR' }] },
        },
      });
      expect(refused.body).toMatchObject({
        error_message: expect.stringMatching(/Destroy the clusters first/) as string,
      });
    }
    expect((await env({ description: 'as before', onprem_node_names: ['pve1'] })).status).toBe(201);
    await setNodeStatus(api.database.manager, nodeId, 'DESTROYED');
    expect((await env({ credential_config_id })).status).toBe(201);
  });

  it('cannot be replaced by another environment for a cluster in ERROR that may have machines', async () => {
    const [copy] = await api.database.query<{ cloud_env_id: number }[]>(
      `INSERT INTO cloud_envs (tenant_id, name, cloud_provider_id, network_conf_id, credentials_conf_id, boot_disk_image_id, labels, endpoint)
       SELECT tenant_id, 'other', cloud_provider_id, network_conf_id, credentials_conf_id, boot_disk_image_id, labels, endpoint
       FROM cloud_envs WHERE cloud_env_id = $1 RETURNING cloud_env_id`,
      [tenancy.cloudEnvId],
    );
    const refused = await cluster({ cloud_env_id: copy?.cloud_env_id });
    expect(refused).toMatchObject({ status: 409, body: { error_code: 'CLUSTER.INVALID_STATE' } });
    await setNodeStatus(api.database.manager, nodeId, 'DESTROYED');
    expect((await cluster({ cloud_env_id: copy?.cloud_env_id })).status).toBe(201);
  });

  it('is kept even after its environment is deleted: credentials that may own machines are not deleted', async () => {
    expect((await remove(`/cluster/cloud/environment?cloud_env_id=${tenancy.cloudEnvId}`)).status).toBe(201);
    const refused = await removeCredentials();
    expect(refused.body).toMatchObject({
      error_code: 'CREDENTIALS_CONF.OWNS_MACHINES',
      error_message: expect.stringContaining(`"tenant ${made}" (ERROR)`) as string,
      details: { clusters: [{ name: `tenant ${made}`, status: 'ERROR' }] },
    });
    expect(refused.status).toBe(400);
    await setNodeStatus(api.database.manager, nodeId, 'DESTROYED');
    expect((await removeCredentials()).status).toBe(201);
  });

  it('is kept while the last sweep saw machines of it that no cluster owns', async () => {
    const places = new MachinePlacesRepository(api.database);
    await setNodeStatus(api.database.manager, nodeId, 'DESTROYED');
    expect((await remove(`/cluster/cloud/environment?cloud_env_id=${tenancy.cloudEnvId}`)).status).toBe(201);
    await places.recordSweep(placeId, { orphans: 3, removed: 3 });
    const refused = await removeCredentials();
    expect(refused.body).toMatchObject({ error_code: 'CREDENTIALS_CONF.OWNS_MACHINES', details: { machines: 3 } });
    await places.recordSweep(placeId, { orphans: 0, removed: 0 });
    expect((await removeCredentials()).status).toBe(201);
  });

  it('accepts new secrets at any time, but those of another account only without machines', async () => {
    const values = {
      ...{ CLIENT_ID: 'c', TENANT_ID: 't', CLIENT_SECRET: 'one', SUBSCRIPTION_ID: 's' },
      ...{ STORAGE_ACCOUNT_NAME: 'a', CONTAINER_NAME: 'b' },
    };
    const created = await caller.call('POST', '/credential_config', {
      ...{ name: 'azure', credential_type_id: CREDENTIAL_TYPE_ID.azureServicePrincipal },
      ...encoded(values),
    });
    const { credentials_conf_id: id } = created.body as { credentials_conf_id: string };
    await api.database.query('UPDATE machine_places SET credentials_conf_id = $2 WHERE machine_place_id = $1', [
      placeId,
      id,
    ]);
    const update = (change: object) =>
      caller.call('PUT', `/credential_config?credentials_conf_id=${id}`, encoded({ ...values, ...change }));
    expect((await update({ CLIENT_SECRET: 'two' })).status).toBe(201);
    const refused = await update({ SUBSCRIPTION_ID: 'another' });
    expect(refused.body).toMatchObject({ error_code: 'CREDENTIALS_CONF.OWNS_MACHINES' });
    await setNodeStatus(api.database.manager, nodeId, 'DESTROYED');
    expect((await update({ SUBSCRIPTION_ID: 'another' })).status).toBe(201);
  });
});
