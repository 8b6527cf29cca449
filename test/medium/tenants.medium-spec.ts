import { BillingModule } from '../../src/modules/execution/billing/billing.module';
import { ClustersApiModule } from '../../src/modules/execution/clusters/clusters.api.module';
import { RunsModule } from '../../src/modules/execution/runs/runs.module';
import { IamApiModule } from '../../src/modules/foundation/iam/iam.api.module';
import { IamModule } from '../../src/modules/foundation/iam/iam.module';
import { ReferenceDataModule } from '../../src/modules/foundation/reference-data/reference-data.module';
import { PASSWORD, People } from './harness/people';
import { bodyOf } from '../samples';
import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { setClusterStatus } from './harness/statuses';
import type { ClusterStatus } from '../../src/modules/execution/clusters/model/cluster-state';
import { podsOf, soon, type TestAnswer, type TestApi } from './harness/test-api';

const PATH = '/platform/admin/tenant';
const UNKNOWN = '5f2a7d0c-8f6b-4a8e-9d7e-0123456789ab';

// Real: PostgreSQL, Redis, guards, pipes and filters, clusters and tenants. Two APIs stand for two pods.
describe('the administration of tenants', () => {
  const [api, otherPod] = podsOf([
    IamModule,
    IamApiModule,
    ReferenceDataModule,
    ClustersApiModule,
    RunsModule,
    BillingModule,
  ]);
  const people = new People(api);
  let token: string;

  beforeAll(async () => {
    token = await api.login();
  });

  const create = (body: object) => api.call('POST', PATH, { token, body });
  const remove = (selector: string, as = token) => api.call('DELETE', `${PATH}?${selector}`, { token: as });
  const query = <T>(sql: string, params: unknown[] = []): Promise<T[]> => api.database.query(sql, params);
  const outcome = ({ status, body }: TestAnswer) => [status, body.error_code];
  const names = ({ body }: TestAnswer) => body.data.map(({ name }: { name: string }) => name);

  it('creates a tenant, and returns it by id and by name', async () => {
    const { status, body } = await create({ name: 'acme', description: 'Rockets' });
    expect([status, body]).toEqual([
      200,
      {
        tenant_id: expect.any(String),
        name: 'acme',
        description: 'Rockets',
        created_by_user_id: '1',
        modified_by_user_id: '1',
        last_update_date: expect.any(String),
        from_date: expect.any(String),
        to_date: null,
      },
    ]);
    const author = { user_id: 1, username: 'admin' };
    for (const selector of [`tenant_id=${body.tenant_id}`, 'tenant_name=acme']) {
      const read = await api.call('GET', `${PATH}?${selector}`, { token });
      expect([read.status, read.body]).toEqual([
        200,
        {
          tenant_id: body.tenant_id,
          name: 'acme',
          description: 'Rockets',
          created_by: author,
          modified_by: author,
          last_update_date: body.last_update_date,
          from_date: body.from_date,
          to_date: 'infinity',
        },
      ]);
    }
  });

  it.each([
    ['a taken name', { name: 'default' }, 409, 'RECORD.DUPLICATE_NAME'],
    ['no name', {}, 400, 'REQUEST.INVALID'],
    ['a name against the rule', { name: 'Upper Case' }, 400, 'REQUEST.INVALID'],
    ['a name of 65 characters', { name: 'x'.repeat(65) }, 400, 'REQUEST.INVALID'],
    ['an empty description', { name: 'empty', description: '' }, 400, 'REQUEST.INVALID'],
    ['an unknown field', { name: 'odd', owner: 'me' }, 400, 'REQUEST.INVALID'],
  ])('makes none with %s', async (_what, body, status, code) => {
    expect(outcome(await create(body))).toEqual([status, code]);
  });

  it.each([
    ['without a selector', '', 400, 'REQUEST.SELECTOR_MISSING'],
    ['with an id that is no UUID', 'tenant_id=7', 400, 'REQUEST.INVALID'],
    ['with an unknown id', `tenant_id=${UNKNOWN}`, 404, 'TENANT.NOT_FOUND'],
    ['with an unknown name', 'tenant_name=nowhere', 404, 'TENANT.NOT_FOUND'],
    ['with id and name that disagree', `tenant_id=${UNKNOWN}&tenant_name=default`, 404, 'TENANT.NOT_FOUND'],
  ])('finds none %s', async (_what, selector, status, code) => {
    expect(outcome(await api.call('GET', `${PATH}?${selector}`, { token }))).toEqual([status, code]);
    const update = await api.call('PUT', `${PATH}?${selector}`, { token, body: { description: 'x' } });
    expect(outcome(update)).toEqual([status, code]);
    expect(outcome(await remove(selector))).toEqual([status, code]);
  });

  it('changes the fields sent, clears those that are null, and keeps the others', async () => {
    await create({ name: 'before', description: 'Old' });
    const update = async (name: string, body: object) => {
      const answer = await api.call('PUT', `${PATH}?tenant_name=${name}`, { token, body });
      expect(answer.status).toBe(201);
      return answer.body;
    };
    expect(await update('before', { name: 'after' })).toMatchObject({ name: 'after', description: 'Old' });
    expect(await update('after', { description: null })).toMatchObject({ name: 'after', description: null });
    expect(await update('after', { name: 'after' })).toMatchObject({ name: 'after' });
    const put = (body: object) => api.call('PUT', `${PATH}?tenant_name=after`, { token, body });
    expect(outcome(await put({}))).toEqual([400, 'REQUEST.EMPTY_UPDATE']);
    expect(outcome(await put({ name: 'default' }))).toEqual([409, 'RECORD.DUPLICATE_NAME']);
  });

  it('lists and searches tenants, newest first, in pages', async () => {
    for (const name of ['list-1', 'list-2', 'list_3']) await create({ name });
    const found = await api.call('GET', '/platform/admin/tenants/search?tenant_name=LIST', { token });
    expect(names(found)).toEqual(['list_3', 'list-2', 'list-1']);
    const literal = await api.call('GET', '/platform/admin/tenants/search?tenant_name=t_', { token });
    expect(names(literal)).toEqual(['list_3']);
    const page = await api.call('GET', '/platform/admin/tenants?limit=2&pageNumber=2', { token });
    expect(names(page)[0]).toBe('list-1');
    expect(page.body.result_set).toMatchObject({ current_page: 2, limit: 2, next_page: 3 });
    expect((await api.call('GET', '/platform/admin/tenants/search', { token })).status).toBe(400);
  });

  it('lists the tenants that a user can select', async () => {
    const [mine, other] = [await people.tenant('of-user'), await people.tenant('of-others')];
    const userId = await people.withPassword('somebody', [['USER', mine]]);
    const tenantsOf = (id: number | string) => api.call('GET', `/platform/admin/user/${id}/tenants`, { token });
    expect((await tenantsOf(userId)).body.data).toEqual([{ tenant_id: mine, name: 'of-user', description: null }]);
    await people.giveRole(userId, 'PLATFORM ADMIN', null);
    expect(names(await tenantsOf(userId))).toEqual(expect.arrayContaining(['of-user', 'of-others', 'default']));
    expect(outcome(await tenantsOf(999_999))).toEqual([404, 'USER.NOT_FOUND']);
    expect((await tenantsOf('x')).status).toBe(400);
    expect(other).not.toBe(mine);
  });

  it('is for PLATFORM ADMIN only', async () => {
    const tenantId = await people.tenant('governed');
    await people.withPassword('governor', [['ADMIN', tenantId]]);
    const admin = await api.login('governor', PASSWORD);
    for (const [method, path, body] of [
      ['POST', PATH, { name: 'more' }],
      ['GET', `${PATH}?tenant_id=${tenantId}`],
      ['PUT', `${PATH}?tenant_id=${tenantId}`, { name: 'mine' }],
      ['DELETE', `${PATH}?tenant_id=${tenantId}`],
      ['GET', '/platform/admin/tenants'],
      ['GET', '/platform/admin/tenants/search?tenant_name=g'],
      ['GET', '/platform/admin/user/1/tenants'],
    ] as const) {
      expect(outcome(await api.call(method, path, { token: admin, body }))).toEqual([403, 'AUTH.ROLE_REQUIRED']);
    }
  });

  describe('deletes a tenant', () => {
    async function tenancy(name: string, status: ClusterStatus, disabled = false): Promise<Tenancy> {
      const made = await makeTenancy(api.database.manager, name);
      await setClusterStatus(api.database.manager, made.clusterId, status);
      if (disabled) await query('UPDATE clusters SET to_date = now() WHERE cluster_id = $1', [made.clusterId]);
      return made;
    }

    it('once: its name is free again, its record and its roles stay as history', async () => {
      const { tenantId } = await tenancy('passing', 'DESTROYED');
      const userId = await people.withPassword('passenger', [['USER', tenantId]]);
      const answer = await remove('tenant_name=passing');
      expect([answer.status, answer.body]).toEqual([
        201,
        { message: `The tenant "passing" (id ${tenantId}) is deleted.` },
      ]);
      expect(outcome(await remove(`tenant_id=${tenantId}`))).toEqual([404, 'TENANT.NOT_FOUND']);
      expect(outcome(await api.call('POST', `/user/select/${tenantId}`, { token }))).toEqual([404, 'TENANT.NOT_FOUND']);
      expect((await create({ name: 'passing' })).status).toBe(200);
      const history = await query(
        `SELECT t.to_date <= now() AS tenant_ended, r.to_date <= now() AS role_ended, r.modified_by_user_id AS by
         FROM tenants t JOIN user_roles r USING (tenant_id) WHERE t.tenant_id = $1 AND r.user_id = $2`,
        [tenantId, userId],
      );
      expect(history).toEqual([{ tenant_ended: true, role_ended: true, by: 1 }]);
    });

    it.each(['RUNNING', 'STOPPED', 'DESTROYING', 'ERROR'] as const)(
      'not while it has a cluster in %s',
      async (status) => {
        const { tenantId } = await tenancy(`busy-${status.toLowerCase()}`, status);
        const answer = await remove(`tenant_id=${tenantId}`);
        expect(outcome(answer)).toEqual([409, 'TENANT.IN_USE']);
        expect(answer.body.error).toContain(`"busy-${status.toLowerCase()}" (${status})`);
        expect((await api.call('GET', `${PATH}?tenant_id=${tenantId}`, { token })).status).toBe(200);
      },
    );

    it('unless it has a disabled cluster that is not destroyed', async () => {
      const { tenantId } = await tenancy('hidden', 'ERROR', true);
      expect(outcome(await remove(`tenant_id=${tenantId}`))).toEqual([409, 'TENANT.IN_USE']);
    });

    it('unless it has an unfinished job', async () => {
      const made = await tenancy('working', 'DESTROYED');
      const { run_id } = await insertPlain<{ run_id: number }>(api.database.manager, 'runs', {
        tenant_id: made.tenantId,
        workspace_id: made.workspaceId,
        job_conf_id: made.jobConfId,
        cluster_id: made.clusterId,
        status: 'SUBMITTED',
      });
      const answer = await remove('tenant_name=working');
      expect(outcome(answer)).toEqual([409, 'TENANT.IN_USE']);
      expect(answer.body.details).toEqual({ job_ids: [run_id] });
      await query(`UPDATE runs SET status = 'DONE', ended_at = now() WHERE run_id = $1`, [run_id]);
      expect((await remove('tenant_name=working')).status).toBe(201);
    });

    it('and refuses its sessions and tokens on every pod within a second', async () => {
      const tenantId = await people.tenant('ending');
      await people.withPassword('resident', [['USER', tenantId]]);
      const session = await api.login('resident', PASSWORD);
      const made = (await api.call('POST', '/user/token', { token: session })).body;
      const call = (pod: TestApi, as: string) => pod.call('GET', '/user/info', { token: as });
      for (const as of [session, made.token]) {
        for (const pod of [api, otherPod]) expect((await call(pod, as)).status).toBe(200);
      }
      const wakeUps = otherPod.notifications('session');
      expect((await remove('tenant_name=ending')).status).toBe(201);
      for (const as of [session, made.token]) {
        expect((await call(api, as)).body.error).toBe('The tenant of the session was deleted. Log in again.');
        await soon(async () => expect((await call(otherPod, as)).status).toBe(401));
      }
      // Cached sessions expire within a second anyway; the notification makes it immediate.
      await soon(async () => expect(wakeUps).toContain(''));
      const again = await api.login('resident', PASSWORD);
      expect((await call(api, again)).body.tenant_id).toBeNull();
      const tokens = (await api.call('GET', '/user/tokens', { token: again })).body.data;
      expect(tokens).toEqual([expect.objectContaining({ token_id: Number(made.token_id) })]);
      expect(Date.parse(tokens[0].to_date)).toBeLessThan(Date.now() + 1000);
    });

    it('that the caller has selected: the session continues without a tenant, other selections stay', async () => {
      const [own, kept] = [await people.tenant('own'), await people.tenant('kept')];
      const second = await api.login();
      await api.call('POST', `/user/select/${own}`, { token: second });
      await api.call('POST', `/user/select/${kept}`, { token });
      expect((await remove('tenant_name=own', second)).status).toBe(201);
      for (const pod of [api, otherPod]) {
        await soon(async () => {
          const info = await pod.call('GET', '/user/info', { token: second });
          expect([info.status, info.body.tenant_id]).toEqual([200, null]);
        });
        expect((await pod.call('GET', '/user/info', { token })).body.tenant_id).toBe(kept);
      }
      expect(outcome(await api.call('GET', '/clusters', { token: second }))).toEqual([403, 'TENANT.NOT_SELECTED']);
    });

    it('that the caller has not selected: the selection stays', async () => {
      const kept = await people.tenant('selected');
      await people.tenant('unselected');
      await api.call('POST', `/user/select/${kept}`, { token });
      expect((await remove('tenant_name=unselected')).status).toBe(201);
      expect((await api.call('GET', '/user/info', { token })).body.tenant_id).toBe(kept);
    });

    it('with a personal token bound to it: the token stops working', async () => {
      const tenantId = await people.tenant('sawn-off');
      const session = await api.login();
      await api.call('POST', `/user/select/${tenantId}`, { token: session });
      const made = (await api.call('POST', '/user/token', { token: session })).body;
      expect((await remove('tenant_name=sawn-off', made.token)).status).toBe(201);
      expect((await api.call('GET', '/user/info', { token: made.token })).status).toBe(401);
    });

    describe('while a cluster is enabled in it', () => {
      const enable = (session: string, { clusterId }: Tenancy) =>
        api.call('PUT', '/cluster/enable', { token: session, body: { cluster_id: clusterId } });

      async function adminOf({ tenantId }: Tenancy): Promise<string> {
        const session = await api.login();
        await api.call('POST', `/user/select/${tenantId}`, { token: session });
        return session;
      }

      /** Waits until this many statements of this database wait for a lock. */
      const waiting = (count: number) =>
        soon(async () => {
          const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
          expect(await query(sql)).toHaveLength(count);
        });

      /** Runs `during` while another transaction holds what the statement locks. */
      async function holding(sql: string, id: unknown, during: () => Promise<void>): Promise<void> {
        const runner = api.database.createQueryRunner();
        try {
          await runner.startTransaction();
          await runner.query(sql, [id]);
          await during();
          await runner.commitTransaction();
        } finally {
          await runner.release();
        }
      }

      it('waits for the cluster, and is refused', async () => {
        const made = await tenancy('enabled-first', 'DESTROYED', true);
        const session = await adminOf(made);
        let enabling: Promise<TestAnswer> | undefined;
        let deleting: Promise<TestAnswer> | undefined;
        await holding('SELECT 1 FROM clusters WHERE cluster_id = $1 FOR UPDATE', made.clusterId, async () => {
          enabling = enable(session, made);
          await waiting(1);
          deleting = remove('tenant_name=enabled-first');
          await waiting(2);
        });
        expect((await enabling)?.status).toBe(201);
        expect(outcome(await deleting!)).toEqual([409, 'TENANT.IN_USE']);
      });

      it('comes first, and the cluster is refused', async () => {
        const made = await tenancy('deleted-first', 'DESTROYED', true);
        const session = await adminOf(made);
        let enabling: Promise<TestAnswer> | undefined;
        let deleting: Promise<TestAnswer> | undefined;
        await holding('SELECT 1 FROM user_roles WHERE tenant_id = $1 FOR UPDATE', made.tenantId, async () => {
          deleting = remove('tenant_name=deleted-first');
          await waiting(1);
          enabling = enable(session, made);
          await waiting(2);
        });
        expect((await deleting)?.status).toBe(201);
        expect((await enabling)?.status).toBe(401);
        expect(await query('SELECT status FROM clusters WHERE cluster_id = $1', [made.clusterId])).toEqual([
          { status: 'DESTROYED' },
        ]);
      });

      it('prevents later clusters', async () => {
        const made = await tenancy('made-late', 'DESTROYED');
        const session = await adminOf(made);
        let making: Promise<TestAnswer> | undefined;
        let deleting: Promise<TestAnswer> | undefined;
        await holding('SELECT 1 FROM user_roles WHERE tenant_id = $1 FOR UPDATE', made.tenantId, async () => {
          deleting = remove('tenant_name=made-late');
          await waiting(1);
          const ids = { cloud_env_id: made.cloudEnvId, cluster_conf_id: made.clusterConfId };
          const body = { name: 'late', ...bodyOf('cluster', ids) };
          making = api.call('POST', '/cluster', { token: session, body });
          await waiting(2);
        });
        expect((await deleting)?.status).toBe(201);
        expect((await making)?.status).toBe(401);
        expect(await query(`SELECT 1 FROM clusters WHERE name = 'late'`)).toEqual([]);
      });
    });
  });
});
