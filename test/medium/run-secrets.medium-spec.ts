import type { PollResponse, RunSecrets } from '../../libs/contracts/agent-protocol';
import { settingsOf } from '../../src/modules/execution/runs/jobs/dto/job-conf.dto';
import { type Caller, People } from './harness/people';
import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { TestAgent } from './harness/test-agent';
import { wholeApi } from './harness/test-api';

type Scope = 'tenant' | 'workspace' | 'user';

const VARIABLE = 'ENVIRONMENT VARIABLE';

// Real: the whole API and PostgreSQL. Left out: the agents, whose requests the test sends.
describe('secrets that a cluster names for its runs', () => {
  const api = wholeApi();
  const people = new People(api);
  let tenancy: Tenancy;
  let agent: TestAgent;
  let admin: Caller;

  beforeEach(async () => {
    tenancy = await makeTenancy(api.database.manager, people.unique('tenancy'));
    admin = await people.admin(tenancy.tenantId);
    agent = await TestAgent.ofNewNode(api, tenancy);
  });

  async function make(scope: Scope, name: string, value: object | string, caller = admin, workspace?: number) {
    const place = scope === 'workspace' ? `?workspace_id=${workspace ?? tenancy.workspaceId}` : '';
    const fields = typeof value === 'string' ? { secret_type: VARIABLE, value } : value;
    const { status, body } = await caller.call('POST', `/${scope}/secret${place}`, { name, ...fields });
    expect(status).toBe(200);
    return Number(body[`${scope}_secret_id`]);
  }

  const names = (env_var_secret: object, conf_secret: object | null = null) =>
    api.database.query('UPDATE clusters SET spark_config = $2 WHERE cluster_id = $1', [
      tenancy.clusterId,
      { env_var_secret, conf_secret },
    ]);

  async function runOf(userId: number | null = admin.userId, workspaceId = tenancy.workspaceId): Promise<number> {
    const id = await agent.assignRun({ ...tenancy, workspaceId });
    await api.database.query('UPDATE runs SET created_by_user_id = $2 WHERE run_id = $1', [id, userId]);
    return id;
  }

  /** Returns the secrets that the agent receives with the run. */
  async function receivedSecrets(runId: number, version = 0): Promise<RunSecrets | undefined> {
    const answer = await agent.send('POST', '/poll', { body: { version, wait_ms: 0 } });
    expect(answer.status).toBe(200);
    const { runs } = (await answer.json()) as PollResponse;
    const run = runs.find(({ run_id }) => run_id === String(runId));
    expect(run).toBeDefined();
    return run?.spec.secrets;
  }

  const member = async () => people.as(await people.user([['USER', tenancy.tenantId]]), tenancy.tenantId);

  it.each(['NOTEBOOK', 'PLATFORM_FUNCTIONS'])('are not the user’s if other users control the run: %s', async (type) => {
    await make('user', 'mine', 'of user');
    await make('user', 'key', 'of user');
    await make('workspace', 'key', 'of workspace');
    await names({ KEY: 'key' });
    const settings = settingsOf({
      platform_functions_script_path: 'project/serve.py',
      platform_functions_function_name: 'serve',
    });
    const id = await agent.assignRun(tenancy, settings, type);
    await api.database.query('UPDATE runs SET created_by_user_id = $2 WHERE run_id = $1', [id, admin.userId]);
    expect(await receivedSecrets(id)).toEqual({ env: { KEY: 'of workspace' }, conf: {} });
    await names({ MINE: 'mine' });
    expect((await receivedSecrets(id))?.fault).toContain('mine');
  });

  it('are the user’s, else the workspace’s, else the tenant’s', async () => {
    const user = await make('user', 'key', 'of user');
    const workspace = await make('workspace', 'key', 'of workspace');
    await make('tenant', 'key', 'of tenant');
    await make('workspace', 'both', 'workspace');
    await make('tenant', 'both', 'tenant');
    await make('tenant', 'all', 'for all');
    await names({ KEY: 'key', BOTH: 'both', AGAIN: 'key', NONE: null }, { 'spark.all': 'all' });
    const others = { BOTH: 'workspace' };
    const conf = { 'spark.all': 'for all' };
    const run = await runOf();
    expect(await receivedSecrets(run)).toEqual({ env: { KEY: 'of user', AGAIN: 'of user', ...others }, conf });
    await admin.call('DELETE', `/user/secret?user_secret_id=${user}`);
    expect(await receivedSecrets(run)).toEqual({
      env: { KEY: 'of workspace', AGAIN: 'of workspace', ...others },
      conf,
    });
    await admin.call(
      'DELETE',
      `/workspace/secret?workspace_id=${tenancy.workspaceId}&workspace_secret_id=${workspace}`,
    );
    expect(await receivedSecrets(run)).toEqual({ env: { KEY: 'of tenant', AGAIN: 'of tenant', ...others }, conf });
  });

  it('are never those of another user, workspace or tenant', async () => {
    const [one, other] = [await member(), await member()];
    await make('user', 'mine', 'of one', one);
    const { workspace_id: elsewhere } = await insertPlain(api.database.manager, 'workspaces', {
      tenant_id: tenancy.tenantId,
      name: 'elsewhere',
    });
    await make('workspace', 'there', 'of elsewhere', admin, Number(elsewhere));
    const foreign = await people.admin(await people.tenant());
    await make('tenant', 'foreign', 'of another tenant', foreign);
    await names({ MINE: 'mine' });
    expect(await receivedSecrets(await runOf(one.userId))).toEqual({ env: { MINE: 'of one' }, conf: {} });
    for (const userId of [other.userId, admin.userId, foreign.userId, null]) {
      const secrets = await receivedSecrets(await runOf(userId));
      expect(secrets).toEqual({
        env: {},
        conf: {},
        fault:
          'The environment variable MINE cannot be set from the secret "mine": neither the user who runs the job, nor its ' +
          'workspace, nor its tenant has a secret of that name.',
      });
    }
    await names({}, { 'spark.there': 'there' });
    expect(await receivedSecrets(await runOf(one.userId, Number(elsewhere)))).toEqual({
      env: {},
      conf: { 'spark.there': 'of elsewhere' },
    });
    expect((await receivedSecrets(await runOf()))?.fault).toMatch(
      /^The Spark property spark\.there cannot be set from the secret "there": neither /,
    );
    await names({ FOREIGN: 'foreign' });
    expect((await receivedSecrets(await runOf()))?.fault).toMatch(/"foreign": neither /);
  });

  it('of the same user in another tenant are not used', async () => {
    const elsewhere = await people.tenant();
    const userId = await people.user([
      ['USER', tenancy.tenantId],
      ['USER', elsewhere],
    ]);
    await make('user', 'key', 'of elsewhere', await people.as(userId, elsewhere));
    await names({ KEY: 'key' });
    expect((await receivedSecrets(await runOf(userId)))?.fault).toMatch(/"key": neither /);
  });

  it('come with a reason and no value if they have a wrong type, are damaged or are too large together', async () => {
    await make('user', 'typed', { secret_type: 'DATABRICKS UNITY TOKEN', token: 'hush' });
    // The nearest secret counts, whether it is usable or not.
    await make('tenant', 'typed', 'hush');
    await make('tenant', 'good', 'hush');
    await names({ TYPED: 'typed', GOOD: 'good' });
    const run = await runOf();
    expect(await receivedSecrets(run)).toEqual({
      env: {},
      conf: {},
      fault:
        'The environment variable TYPED cannot be set from the secret "typed": the secret of the user is of type DATABRICKS ' +
        'UNITY TOKEN instead of ENVIRONMENT VARIABLE.',
    });
    const id = await make('tenant', 'damaged', 'hush');
    const moved =
      'UPDATE tenant_secrets t SET sealed = o.sealed FROM tenant_secrets o WHERE t.tenant_secret_id = $1 AND o.name = $2';
    await api.database.query(moved, [id, 'good']);
    await names({}, { 'spark.damaged': 'damaged' });
    expect((await receivedSecrets(run))?.fault).toMatch(
      /^The Spark property spark\.damaged .* the secret of the tenant cannot be decrypted; /,
    );
    await make('tenant', 'large', 'h'.repeat(40_000));
    await names({ ONE: 'large' });
    expect(await receivedSecrets(run)).not.toHaveProperty('fault');
    await names({ ONE: 'large', TWO: 'large' });
    expect(await receivedSecrets(run)).toEqual({
      env: {},
      conf: {},
      fault: 'The secrets of a run may have at most 65536 bytes together; these have 80000.',
    });
  });

  it('are sent while the run starts, and not again', async () => {
    await make('tenant', 'key', 'hush');
    await names({ KEY: 'key' });
    const run = await runOf();
    expect(await receivedSecrets(run, 1)).toEqual({ env: { KEY: 'hush' }, conf: {} });
    await api.database.query('UPDATE runs SET report_seq = 1 WHERE run_id = $1', [run]);
    expect(await receivedSecrets(run, 1)).toBeUndefined();
    // An agent that lost its disk starts the run again.
    expect(await receivedSecrets(run)).toEqual({ env: { KEY: 'hush' }, conf: {} });
    await names({});
    expect(await receivedSecrets(run)).toBeUndefined();
  });
});
