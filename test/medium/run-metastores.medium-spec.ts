import type { PollResponse, RunMetastore } from '../../libs/contracts/agent-protocol';
import { unityDetails } from '../samples/metastore-catalog';
import { type Caller, People } from './harness/people';
import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { TestAgent } from './harness/test-agent';
import { wholeApi } from './harness/test-api';

type Scope = 'tenant' | 'workspace' | 'user';
type Role = 'metastore' | 'storage';

const keys = (name: string) => ({
  secret_type: 'AWS ACCESS SECRET KEY PAIR',
  aws_access_key_id: `AKIA-${name}`,
  aws_secret_access_key: `hush-${name}`,
  aws_default_region: 'eu-west-1',
});
const token = (name: string) => ({ secret_type: 'DATABRICKS UNITY TOKEN', token: `hush-${name}` });
const glueWith = (name: string): RunMetastore => ({
  kind: 'glue',
  region: 'eu-west-1',
  access_key_id: `AKIA-${name}`,
  secret_access_key: `hush-${name}`,
});

// Real: the whole API and PostgreSQL. Left out: the agents, whose requests the test sends.
describe('metastores that runs open with a secret', () => {
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

  /** Creates a catalog and attaches it to the cluster. */
  async function catalog(kind: 'glue' | 'unity', details: object = {}): Promise<number> {
    const { status, body } = await admin.call('POST', `/metastore/catalog/${kind}`, { name: 'shop', ...details });
    expect(status).toBe(200);
    await named(Number(body.metastore_catalog_id));
    return Number(body.metastore_catalog_id);
  }

  const named = (id: number | null) =>
    api.database.query('UPDATE clusters SET metastore_catalog_id = $2 WHERE cluster_id = $1', [tenancy.clusterId, id]);

  const place = (scope: Scope) => (scope === 'workspace' ? `?workspace_id=${tenancy.workspaceId}` : '');

  /** Creates a secret and attaches it to the catalog. */
  async function attach(
    scope: Scope,
    id: number,
    values: object,
    {
      role = 'storage',
      caller = admin,
      tenantId = tenancy.tenantId,
    }: { role?: Role; caller?: Caller; tenantId?: string } = {},
  ) {
    const name = people.unique('secret');
    const made = await caller.call('POST', `/${scope}/secret${place(scope)}`, { name, ...values });
    expect(made.status).toBe(200);
    const secretId = Number(made.body[`${scope}_secret_id`]);
    await insertPlain(api.database.manager, `${scope}_catalog_secrets`, {
      tenant_id: tenantId,
      metastore_catalog_id: id,
      [`${role}_secret_id`]: secretId,
      ...(scope === 'workspace' && { workspace_id: tenancy.workspaceId }),
      ...(scope === 'user' && { user_id: caller.userId }),
    });
    return secretId;
  }

  async function runOf(userId: number | null = admin.userId): Promise<number> {
    const id = await agent.assignRun(tenancy);
    await api.database.query('UPDATE runs SET created_by_user_id = $2 WHERE run_id = $1', [id, userId]);
    return id;
  }

  /** Returns the metastores that the agent receives with its runs. */
  async function receivedMetastores(runIds: readonly number[], version = 0): Promise<(RunMetastore | undefined)[]> {
    const answer = await agent.send('POST', '/poll', { body: { version, wait_ms: 0 } });
    expect(answer.status).toBe(200);
    const { runs } = (await answer.json()) as PollResponse;
    return runIds.map((id) => runs.find(({ run_id }) => run_id === String(id))?.spec.metastore);
  }

  const toldOne = async (runId: number, version = 0) => (await receivedMetastores([runId], version))[0];
  const member = async () => people.as(await people.user([['USER', tenancy.tenantId]]), tenancy.tenantId);
  const refused = (fault: string) => ({ kind: 'unusable', fault });

  it('use the AWS Glue keys of the user who runs the job, else of the workspace, else of the tenant', async () => {
    const id = await catalog('glue');
    const run = await runOf();
    const fault =
      'The metastore catalog "shop" cannot be used: It requires a storage secret of type AWS ACCESS SECRET KEY PAIR, ' +
      'but none is attached to it for the user who runs the job, the workspace or the tenant. Attach one.';
    expect(await toldOne(run)).toEqual(refused(fault));
    await attach('tenant', id, keys('tenant'));
    expect(await toldOne(run)).toEqual(glueWith('tenant'));
    await attach('workspace', id, keys('workspace'));
    expect(await toldOne(run)).toEqual(glueWith('workspace'));
    await attach('user', id, keys('user'));
    expect(await toldOne(run)).toEqual(glueWith('user'));
  });

  it('get the token and the chosen catalogs of Unity', async () => {
    const id = await catalog('unity', { ...unityDetails, additional_catalogs: ['side', 'other'] });
    const run = await runOf();
    const needs =
      'The metastore catalog "shop" cannot be used: It requires a metastore secret of type DATABRICKS UNITY TOKEN, but ';
    expect(await toldOne(run)).toEqual(
      refused(`${needs}none is attached to it for the user who runs the job, the workspace or the tenant. Attach one.`),
    );
    await attach('workspace', id, token('workspace'), { role: 'metastore' });
    // The storage secret opens only the store.
    await attach('user', id, keys('user'));
    const unity = { kind: 'unity', endpoint: unityDetails.endpoint, catalogs: ['main', 'side', 'other'] };
    expect(await toldOne(run)).toEqual({ ...unity, token: 'hush-workspace' });
  });

  it('are opened separately for each run: nobody gets the keys of another user', async () => {
    const id = await catalog('glue');
    const [one, other] = [await member(), await member()];
    await attach('user', id, keys('one'), { caller: one });
    const runs = [await runOf(one.userId), await runOf(other.userId), await runOf(null), await runOf(one.userId)];
    const none = refused(expect.stringMatching(/ none is attached /) as string);
    expect(await receivedMetastores(runs)).toEqual([glueWith('one'), none, none, glueWith('one')]);
    await attach('tenant', id, keys('tenant'));
    expect(await receivedMetastores(runs)).toEqual([
      glueWith('one'),
      glueWith('tenant'),
      glueWith('tenant'),
      glueWith('one'),
    ]);
  });

  it('are not opened with keys of the same user in another tenant', async () => {
    const elsewhere = await people.tenant();
    const userId = await people.user([
      ['USER', tenancy.tenantId],
      ['ADMIN', elsewhere],
    ]);
    const there = await people.as(userId, elsewhere);
    const { body } = await there.call('POST', '/metastore/catalog/glue', { name: 'shop' });
    await attach('user', Number(body.metastore_catalog_id), keys('elsewhere'), { caller: there, tenantId: elsewhere });
    await catalog('glue');
    expect(await toldOne(await runOf(userId))).toEqual(refused(expect.stringMatching(/ none is attached /) as string));
  });

  it('come with a reason and without a value if the nearest secret has a wrong type or is damaged', async () => {
    const id = await catalog('glue');
    await attach('tenant', id, keys('tenant'));
    const principal = { client_id: 'a', client_secret: 'hush', subscription_id: 'b', tenant_id: 'c' };
    const wrong = await attach('user', id, { secret_type: 'AZURE SERVICE PRINCIPAL', ...principal });
    const [mine, others] = [await runOf(), await runOf((await member()).userId)];
    const fault =
      'The metastore catalog "shop" cannot be used: It requires a storage secret of type AWS ACCESS SECRET KEY PAIR, ' +
      'but the user secret that is attached to it is of type AZURE SERVICE PRINCIPAL. Attach one of the right type.';
    expect(await receivedMetastores([mine, others])).toEqual([refused(fault), glueWith('tenant')]);
    await api.database.query(`UPDATE user_secrets SET sealed = '\\x00' WHERE user_secret_id = $1`, [wrong]);
    expect(await receivedMetastores([mine, others])).toEqual([
      refused(expect.stringMatching(/"shop" cannot be used: The values of .* cannot be decrypted\./) as string),
      glueWith('tenant'),
    ]);
  });

  it('come with a reason if the catalog was deleted', async () => {
    const id = await catalog('glue');
    await attach('tenant', id, keys('tenant'));
    await api.database.query('UPDATE metastore_catalogs SET to_date = now() WHERE metastore_catalog_id = $1', [id]);
    const fault = 'The metastore catalog "shop" cannot be used: It was deleted. Assign another catalog to the cluster.';
    expect(await toldOne(await runOf())).toEqual(refused(fault));
  });

  it('are sent while the run starts, and not again', async () => {
    await attach('tenant', await catalog('glue'), keys('tenant'));
    const run = await runOf();
    expect(await toldOne(run, 1)).toEqual(glueWith('tenant'));
    await api.database.query('UPDATE runs SET report_seq = 1 WHERE run_id = $1', [run]);
    expect(await toldOne(run, 1)).toBeUndefined();
    // An agent that lost its disk starts the run again.
    expect(await toldOne(run)).toEqual(glueWith('tenant'));
    await named(null);
    expect(await toldOne(run)).toBeUndefined();
  });
});
