import type { Role } from '../../src/platform/kernel/auth/roles';
import { Estate, type Parts } from './harness/estate';
import { type Caller, People, refusal } from './harness/people';
import { setClusterStatus } from './harness/statuses';
import { wholeApi, type TestAnswer } from './harness/test-api';

const VIEW = 0;

// Real: the whole API and PostgreSQL.
describe('the workspaces that a cluster serves', () => {
  const api = wholeApi();
  const people = new People(api);
  let tenant: string;
  let admin: Caller;
  let estate: Estate;
  let parts: Parts;
  let cluster: number;
  let workspaces: number[];

  beforeAll(async () => {
    tenant = await people.tenant();
    admin = await people.everywhere(tenant);
    estate = new Estate(people, admin);
    parts = await estate.parts();
  });

  beforeEach(async () => {
    cluster = await estate.id('cluster', parts);
    // The cluster has no nodes, so that jobs wait.
    await setClusterStatus(api.database.manager, cluster, 'RUNNING');
    workspaces = [await workspace(), await workspace()];
  });

  const member = async (role: Role) => people.as(await people.user([[role, tenant]]), tenant);
  const workspace = async (caller = admin): Promise<number> => {
    const { body } = await caller.call('POST', '/workspace', { name: people.unique('workspace') });
    return Number(body.workspace_id);
  };
  const pair = (workspaceId: number, clusterId = cluster) => `/ac/workspace/${workspaceId}/cluster/${clusterId}`;
  const associate = (workspaceId: number, caller = admin) => caller.call('POST', pair(workspaceId));
  const dissociate = (workspaceId: number, caller = admin) => caller.call('DELETE', pair(workspaceId));
  const jobConf = (workspaceId: number, changes: object = {}) =>
    admin.call('POST', `/workspace/${workspaceId}/spark/job/conf`, {
      name: people.unique('job'),
      cluster_id: cluster,
      job_type: 'Python3',
      command: 'job.py',
      ...changes,
    });
  const submit = (workspaceId: number, jobConfId: unknown) =>
    admin.call('POST', `/workspace/${workspaceId}/spark/job`, { job_conf_id: jobConfId });
  const ids = ({ body }: TestAnswer) =>
    body.data.map(({ workspace: { workspace_id: id } }: { workspace: { workspace_id: number } }) => id);

  it('are all workspaces of its tenant until the first association, and then only associated ones', async () => {
    const [one = 0, other = 0] = workspaces;
    const confs = [await jobConf(one), await jobConf(other)].map(({ body }) => body.job_conf_id);
    expect((await submit(other, confs[1])).status).toBe(200);
    expect(await associate(one)).toMatchObject({
      status: 200,
      body: { workspace_id: String(one), cluster_id: String(cluster), to_date: null },
    });
    expect((await submit(one, confs[0])).status).toBe(200);
    const refused = await submit(other, confs[1]);
    expect(refusal(refused)).toEqual([409, 'CLUSTER.NOT_ASSOCIATED']);
    expect(refused.body.error_message).toContain('cluster manager');
    expect(refusal(await jobConf(other))).toEqual([409, 'CLUSTER.NOT_ASSOCIATED']);
    await associate(other);
    expect((await submit(other, confs[1])).status).toBe(200);
  });

  it('are none once the last association is removed, while submitted jobs continue', async () => {
    const [one = 0] = workspaces;
    const conf = (await jobConf(one)).body.job_conf_id;
    await associate(one);
    const run = (await submit(one, conf)).body.job_id;
    expect(await dissociate(one)).toMatchObject({ status: 201, body: { message: expect.any(String) } });
    expect(refusal(await submit(one, conf))).toEqual([409, 'CLUSTER.NOT_ASSOCIATED']);
    expect((await admin.call('GET', `/workspace/${one}/spark/job/${run}`)).body.job_status).toBe('SUBMITTED');
    expect(refusal(await dissociate(one))).toEqual([404, 'CLUSTER_WORKSPACE.NOT_FOUND']);
  });

  it('cannot be associated twice, nor while they are disabled, nor across tenants', async () => {
    const [one = 0] = workspaces;
    await associate(one);
    expect(refusal(await associate(one))).toEqual([409, 'CLUSTER_WORKSPACE.EXISTS']);
    const disabled = await workspace();
    await admin.call('PUT', `/workspace/disable?workspace_id=${disabled}`);
    expect(refusal(await associate(disabled))).toEqual([409, 'WORKSPACE.DISABLED']);
    const stranger = await people.admin(await people.tenant());
    const foreign = await workspace(stranger);
    expect(refusal(await associate(foreign))).toEqual([404, 'WORKSPACE.NOT_FOUND']);
    expect(refusal(await stranger.call('POST', pair(foreign)))).toEqual([404, 'CLUSTER.NOT_FOUND']);
    expect(refusal(await stranger.call('POST', pair(one)))).toEqual([404, 'WORKSPACE.NOT_FOUND']);
    const rows = await api.database.query('SELECT workspace_id FROM cluster_workspaces WHERE cluster_id = $1', [
      cluster,
    ]);
    expect(rows).toEqual([{ workspace_id: one }]);
  });

  it('are associated once by concurrent requests', async () => {
    const [one = 0] = workspaces;
    const answers = await Promise.all(Array.from({ length: 8 }, () => associate(one)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
  });

  it('are managed by cluster managers, and listed for others if they may see them', async () => {
    const [one = 0, other = 0] = workspaces;
    const [user, manager] = [await member('USER'), await member('CAN MANAGE CLUSTER')];
    expect((await associate(one, user)).status).toBe(403);
    expect((await associate(one, manager)).status).toBe(200);
    expect((await associate(other, manager)).status).toBe(200);
    const list = `/ac/cluster/${cluster}/workspaces`;
    expect(ids(await manager.call('GET', list))).toEqual([other, one]);
    expect(ids(await user.call('GET', list))).toEqual([]);
    await admin.call('POST', `/ac/workspace/${one}/user`, { user_id: user.userId, permission_id: VIEW });
    expect(ids(await user.call('GET', list))).toEqual([one]);
    expect((await user.call('GET', `/ac/workspace/${other}/clusters`)).status).toBe(403);
    expect((await user.call('GET', `/ac/workspace/${one}/clusters`)).body.data).toHaveLength(1);
    expect((await dissociate(one, user)).status).toBe(403);
  });

  it('are listed with the cluster as it is, page by page, and searched by part of the name', async () => {
    const [one = 0, other = 0] = workspaces;
    await associate(one);
    await associate(other);
    const list = `/ac/cluster/${cluster}/workspaces`;
    const { body } = await admin.call('GET', `${list}?limit=1`);
    expect(body.result_set).toMatchObject({ total_objects: 2, next_page: 2 });
    const whole = (await estate.get('cluster', cluster)).body;
    expect(body.data[0]).toMatchObject({
      workspace: { workspace_id: other, description: null },
      cluster_info: { cluster_id: cluster, cluster_status: 'RUNNING', instance_size: 0 },
      created_by: { user_id: admin.userId },
      to_date: 'infinity',
    });
    const { cluster_conf, spark_infra_version } = whole;
    expect(body.data[0].cluster_info).toMatchObject({ cluster_conf, spark_infra_version });
    const name = body.data[0].workspace.name as string;
    expect(ids(await admin.call('GET', `${list}/search?workspace_name=${name.toUpperCase().slice(1)}`))).toEqual([
      other,
    ]);
    expect(ids(await admin.call('GET', `${list}/search?workspace_name=%25`))).toEqual([]);
    expect((await admin.call('GET', `/ac/cluster/999999/workspaces`)).status).toBe(404);
  });

  it('filter the clusters that can run a kind of job, are in a state, or are enabled', async () => {
    const [one = 0] = workspaces;
    await associate(one);
    const list = `/ac/workspace/${one}/clusters`;
    const clusters = async (query: string) =>
      (await admin.call('GET', `${list}${query}`)).body.data.map(
        ({ cluster_info: { cluster_id: id } }: { cluster_info: { cluster_id: number } }) => id,
      );
    const { name, spark_infra_version: version } = (await estate.get('cluster', cluster)).body;
    expect(await clusters('')).toEqual([cluster]);
    expect(await clusters('?cluster_status=running,ERROR&enable=true&job_type=SPARK_JOB')).toEqual([cluster]);
    expect(await clusters('?cluster_status=STOPPED')).toEqual([]);
    expect(await clusters('?enable=false')).toEqual([]);
    expect(await clusters('?job_type=NOTEBOOK')).toEqual(version.notebook_support ? [cluster] : []);
    expect(await clusters('?job_type=THRIFT_SQL')).toEqual(version.thrift_support ? [cluster] : []);
    expect(await clusters(`/search?cluster_name=${name}`)).toEqual([cluster]);
    expect(await clusters('/search?cluster_name=no-such-name')).toEqual([]);
    expect((await admin.call('GET', `${list}?job_type=COBOL`)).status).toBe(400);
  });
});
