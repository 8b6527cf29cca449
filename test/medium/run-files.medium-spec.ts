import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { TestAgent } from './harness/test-agent';
import { wholeApi } from './harness/test-api';

// Real: the whole API, PostgreSQL and the file store. Left out: the agent, whose requests the test sends.
describe('files of a run', () => {
  const api = wholeApi();
  let tenancy: Tenancy;
  let agent: TestAgent;
  let runId: number;

  beforeAll(async () => {
    tenancy = await makeTenancy(api.database.manager, 'mine');
    const { tenantId: tenant_id } = tenancy;
    const workspace = await insertPlain(api.database.manager, 'workspaces', { tenant_id, name: 'files' });
    tenancy.workspaceId = Number(workspace['workspace_id']);
    const token = await api.login();
    expect((await api.call('POST', `/user/select/${tenant_id}`, { token })).status).toBe(201);
    for (const path of ['main.py', 'job.txt', 'first.txt', 'second.txt']) {
      const url = `${await api.app.getUrl()}/api/v1/workspace/files?workspace_id=${tenancy.workspaceId}&path=${path}`;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' };
      const answer = await fetch(url, { method: 'POST', headers, body: `content of ${path}` });
      expect(answer.status).toBe(200);
    }
    agent = await TestAgent.ofNewNode(api, tenancy);
  });

  beforeEach(async () => {
    await ofCluster('second.txt');
    runId = await agent.assignRun(tenancy, { command: '/main.py', files: ['job.txt'] });
  });

  afterEach(() => api.database.query(`UPDATE runs SET ended_at = now(), status = 'DONE' WHERE run_id = $1`, [runId]));

  const ofCluster = (...files: string[]) =>
    api.database.query('UPDATE clusters SET spark_config = $2 WHERE cluster_id = $1', [
      tenancy.clusterId,
      JSON.stringify({ files }),
    ]);

  /** Returns the files that the node receives: the command, the cluster's and the job's. */
  async function receivedFiles() {
    const { runs } = await agent.poll();
    const spec = runs[0]?.spec;
    return [spec?.application, ...(spec?.files ?? [])].map((file) => ({ index: file?.index ?? -1, key: file?.key }));
  }

  const content = async ({ index, key }: { index: number; key?: string }) => {
    const answer = await agent.fetch(`/runs/${runId}/files/${index}${key === undefined ? '' : `?key=${key}`}`);
    return [
      answer.status,
      answer.status === 200 ? await answer.text() : ((await answer.json()) as { error_code: string }).error_code,
    ];
  };

  it('are the files that the node received, even if the cluster is edited meanwhile', async () => {
    const files = await receivedFiles();
    await ofCluster('first.txt', 'second.txt');
    expect(await Promise.all(files.map(content))).toEqual([
      [200, 'content of main.py'],
      [200, 'content of second.txt'],
      [200, 'content of job.txt'],
    ]);
  });

  it('are not found once they are removed from the cluster', async () => {
    const [, second] = await receivedFiles();
    await ofCluster('first.txt');
    expect(await content(second!)).toEqual([404, 'JOB.FILE_NOT_FOUND']);
  });

  it('are found by agents of older releases by their index', async () => {
    const files = await receivedFiles();
    expect(await Promise.all(files.map(({ index }) => content({ index })))).toEqual([
      [200, 'content of main.py'],
      [200, 'content of second.txt'],
      [200, 'content of job.txt'],
    ]);
    expect(await content({ index: 3 })).toEqual([404, 'JOB.FILE_NOT_FOUND']);
  });
});
