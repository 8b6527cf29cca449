import {
  RunListsRepository,
  type RunListFilters,
  type RunListOrder,
  type RunsOfWorkspaces,
} from '../../src/modules/execution/runs/jobs/run-lists.repository';
import { COUNTED_BEYOND } from '../../src/platform/kernel/dto/page';
import { type Caller, People } from './harness/people';
import { insertPlain, makeTenancy, type Tenancy } from './harness/records';
import { explainedDatabase } from './harness/read-blocks';
import { type TestAnswer, wholeApi } from './harness/test-api';
import { vacuumWhole } from './harness/vacuum';

/** Runs, and workspaces among which they are distributed. */
const MANY = 100_000;
const MANY_WORKSPACES = 10_000;
/** Blocks of the database that a statement may read for a page of 50 runs, whatever is stored. */
const MAX_BLOCKS = 500;
/** For a list that is merged from those of all workspaces: some blocks of an index for each of these. */
const MAX_BLOCKS_MERGED = 60_000;

interface Entry {
  run_id: number;
  workspace: { workspace_id: number };
  run_status: string;
  run_type: string;
  submit_date: string;
  start_date: string | null;
  duration_ms: number | null;
}

// Real: the whole API and PostgreSQL.
describe('runs across workspaces', () => {
  const api = wholeApi();
  const people = new People(api);
  let mine: Tenancy;
  let foreign: Tenancy;
  let admin: Caller;
  /** May view every workspace, a few old ones, and none. */
  let everywhere: Caller;
  let rarely: Caller;
  let nowhere: Caller;

  beforeAll(async () => {
    mine = await makeTenancy(api.database.manager, 'mine');
    foreign = await makeTenancy(api.database.manager, 'foreign');
    admin = await people.admin(mine.tenantId);
    everywhere = await people.member(mine.tenantId);
    rarely = await people.member(mine.tenantId);
    nowhere = await people.member(mine.tenantId);
    await fill();
  });

  /** Inserts runs, one a second, that ended after 1 to 1000 seconds; one of 1,000 failed, and the last 50 are unfinished. */
  async function fill(): Promise<void> {
    const insert = (tenancy: Tenancy, count: number) => `
      INSERT INTO runs (tenant_id, workspace_id, kind, job_conf_id, cluster_id, status, job_conf_snapshot, correlation_id,
        workflow_job_instance_id, created_by_user_id, from_date, assigned_at, ended_at, reason_code)
      SELECT '${tenancy.tenantId}', CASE WHEN n <= 200 THEN ${tenancy.workspaceId} ELSE s.ids[1 + n % cardinality(s.ids)] END,
        CASE WHEN n % 100 = 3 THEN 'notebook' ELSE 'job' END, ${tenancy.jobConfId}, ${tenancy.clusterId},
        CASE WHEN n > ${count - 50} THEN 'RUNNING' WHEN n % 1000 = 500 THEN 'ERROR' ELSE 'DONE' END,
        jsonb_build_object('job_conf_id', ${tenancy.jobConfId}, 'name', CASE WHEN n = 777 THEN 'zeppelin' ELSE 'nightly-' || n END,
          'job_type', CASE WHEN n % 100 = 3 THEN 'NOTEBOOK' WHEN n = 20000 THEN 'THRIFT_SQL' ELSE 'SPARK_JOB' END, 'language', 'Python3'),
        'c', n, CASE WHEN n % 10000 = 0 THEN ${everywhere.userId} ELSE ${tenancy.userId} END,
        timestamptz '2026-01-01' + n * interval '1 second', timestamptz '2026-01-01' + n * interval '1 second' + interval '2.5 seconds',
        CASE WHEN n <= ${count - 50} THEN timestamptz '2026-01-01' + n * interval '1 second' + (1 + n * 7 % 1000) * interval '1 second' END,
        CASE WHEN n <= ${count - 50} THEN CASE WHEN n % 1000 = 500 THEN 'PYTHON_ERROR' ELSE 'COMPLETED' END END
      FROM generate_series(1, ${count}) n, (SELECT array_agg(workspace_id ORDER BY workspace_id) AS ids FROM workspaces
        WHERE tenant_id = '${tenancy.tenantId}' AND name LIKE 'many-%' OR workspace_id = ${tenancy.workspaceId}) s`;
    await api.database.transaction(async (tx) => {
      await tx.query('SET LOCAL synchronous_commit = on');
      await tx.query(
        `INSERT INTO workspaces (tenant_id, name) SELECT $1, 'many-' || n FROM generate_series(1, ${MANY_WORKSPACES}) n`,
        [mine.tenantId],
      );
      await tx.query(
        `INSERT INTO workspace_users (tenant_id, workspace_id, user_id, permission_id)
         SELECT tenant_id, workspace_id, $2, 0 FROM workspaces WHERE tenant_id = $1`,
        [mine.tenantId, everywhere.userId],
      );
      await tx.query(insert(mine, MANY));
      await tx.query(insert(foreign, 1_000));
    });
    await insertPlain(api.database.manager, 'workspace_users', {
      tenant_id: mine.tenantId,
      workspace_id: mine.workspaceId,
      user_id: rarely.userId,
      permission_id: 0,
    });
    for (const table of ['runs', 'workspaces', 'workspace_users']) await vacuumWhole(api.database, table);
  }

  const list = async (caller: Caller, query = ''): Promise<TestAnswer> => {
    const answer = await caller.call('GET', `/runs?${query}`);
    expect(answer.status).toBe(200);
    return answer;
  };
  const entries = ({ body }: TestAnswer) => body.data as Entry[];

  /** Follows `next` until the end, or for a number of pages. */
  async function follow(caller: Caller, query: string, pages = 1_000): Promise<Entry[]> {
    const all: Entry[] = [];
    let next: string | null = '';
    for (let page = 0; next !== null && page < pages; page += 1) {
      const answer = await list(caller, `${query}${next === '' ? '' : `&after=${next}`}`);
      all.push(...entries(answer));
      next = answer.body.result_set.next;
    }
    return all;
  }

  describe('by permission', () => {
    it('shows an administrator all runs of the tenant, newest first, and no others', async () => {
      const { body } = await list(admin, 'limit=5');
      expect(body.data.map(({ submit_date }: Entry) => submit_date)).toEqual(
        [100_000, 99_999, 99_998, 99_997, 99_996].map((n) => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString()),
      );
      expect(body.result_set).toMatchObject({ total_objects: COUNTED_BEYOND, total_is_lower_bound: true });
      const all = await follow(admin, 'limit=1000');
      expect(new Set(all.map(({ run_id }) => run_id)).size).toBe(MANY);
    });

    it('shows others the runs of the workspaces that they may view at the moment', async () => {
      const { body } = await list(rarely, 'limit=1000');
      const own = body.data as Entry[];
      expect(new Set(own.map(({ workspace }) => workspace.workspace_id))).toEqual(new Set([mine.workspaceId]));
      expect(body.result_set).toEqual({
        limit: 1000,
        total_objects: own.length,
        total_is_lower_bound: false,
        next: null,
      });
      expect(own.length).toBeGreaterThan(200);
      expect((await list(nowhere)).body.data).toEqual([]);
      const ended = `UPDATE workspace_users SET to_date = $3 WHERE workspace_id = $1 AND user_id = $2`;
      await api.database.query(ended, [mine.workspaceId, rarely.userId, new Date()]);
      expect((await list(rarely)).body.data).toEqual([]);
      await api.database.query(ended, [mine.workspaceId, rarely.userId, 'infinity']);
    });

    it('shows what a group may view', async () => {
      const member = await people.member(mine.tenantId);
      const group = await people.group([], [member.userId]);
      await insertPlain(api.database.manager, 'workspace_groups', {
        tenant_id: mine.tenantId,
        workspace_id: mine.workspaceId,
        group_id: group,
        permission_id: 0,
      });
      expect((await list(member, 'limit=3')).body.data).toHaveLength(3);
    });

    it('refuses a workspace that the caller may not view, or of another tenant', async () => {
      expect((await nowhere.call('GET', `/runs?workspace_id=${mine.workspaceId}`)).status).toBe(403);
      expect((await admin.call('GET', `/runs?workspace_id=${foreign.workspaceId}`)).status).toBe(404);
      expect((await list(rarely, `workspace_id=${mine.workspaceId}&limit=2`)).body.data).toHaveLength(2);
    });

    it('merges the runs of ten thousand workspaces in order', async () => {
      const seen = await follow(everywhere, 'limit=700', 5);
      const all = await follow(admin, 'limit=700', 5);
      expect(seen).toEqual(all);
    });
  });

  describe('filtered and sorted', () => {
    const cases: [string, string, (entry: Entry) => boolean, number][] = [
      ['unfinished', 'run_status=RUNNING,SUBMITTED', ({ run_status }) => run_status === 'RUNNING', 50],
      ['failed', 'run_status=ERROR', ({ run_status }) => run_status === 'ERROR', 100],
      ['SQL servers', 'run_type=THRIFT_SQL', ({ run_type }) => run_type === 'THRIFT_SQL', 1],
      ['notebooks', 'run_type=NOTEBOOK', ({ run_type }) => run_type === 'NOTEBOOK', 1_000],
      ['of an author', `created_by_ids=AUTHOR`, () => true, 10],
      ['named', 'name=ZEPP', () => true, 1],
      ['of a period', 'from=2026-01-01T00:10:00Z&to=2026-01-01T00:20:00Z', () => true, 600],
    ];

    it.each(cases)(
      'finds runs that are %s, for an administrator and for members',
      async (_what, query, fits, count) => {
        const filter = `${query.replace('AUTHOR', String(everywhere.userId))}&limit=1000`;
        for (const caller of [admin, everywhere]) {
          const found = entries(await list(caller, filter));
          expect(found).toHaveLength(count);
          expect(found.every(fits)).toBe(true);
        }
      },
    );

    it.each(['submit_date', 'start_date', 'duration'] as const)('sorts by %s in both directions', async (sort) => {
      const value = (entry: Entry) =>
        sort === 'duration' ? Number(entry.duration_ms) : Date.parse(String(entry[sort]));
      for (const caller of [admin, everywhere]) {
        for (const [order, sign] of [
          ['desc', -1],
          ['asc', 1],
        ] as const) {
          const found = await follow(caller, `sort=${sort}&order=${order}&limit=300`, 4);
          expect(new Set(found.map(({ run_id }) => run_id)).size).toBe(1_200);
          const values = found.map(value);
          expect(values).toEqual(values.toSorted((a, b) => sign * (a - b)));
          expect(values).not.toContain(Number.NaN);
        }
      }
    });

    it.each([
      'Zm9yZ2Vk',
      'submit_date-desc',
      encode('submit_date-asc 1 1'),
      encode('submit_date-desc 1 1; DROP TABLE runs'),
    ])('refuses %p as the position of a list', async (after) => {
      const { status, body } = await admin.call('GET', `/runs?after=${after}`);
      expect([status, body.error_code]).toEqual([400, 'REQUEST.INVALID']);
    });

    it('shows from a forged position only what the caller may see', async () => {
      const after = encode(`submit_date-desc ${Number.MAX_SAFE_INTEGER} 1`);
      expect(entries(await list(rarely, `after=${after}&limit=1000`))).toEqual(
        entries(await list(rarely, 'limit=1000')),
      );
    });
  });

  describe('read few blocks', () => {
    const everyone = () => scope({ everyone: true });
    const member = () => scope({ userId: everywhere.userId });
    const few = () => scope({ userId: rarely.userId });
    const newest: RunListOrder = { sort: 'submit_date', isDescending: true };
    const plans: [string, () => RunsOfWorkspaces, RunListFilters, RunListOrder, number?][] = [
      ['an administrator, newest first', everyone, {}, newest],
      ['an administrator, failed', everyone, { statuses: ['ERROR'] }, newest, MAX_BLOCKS_MERGED],
      ['a member of all workspaces', member, {}, newest, MAX_BLOCKS_MERGED],
      ['a member of all workspaces, running', member, { statuses: ['RUNNING'] }, newest, MAX_BLOCKS_MERGED],
      ['a member of all workspaces, longest', member, {}, { sort: 'duration', isDescending: true }, MAX_BLOCKS_MERGED],
      ['a member of one workspace', few, {}, newest],
      ['a member of one workspace, failed', few, { statuses: ['ERROR'] }, newest],
      ['an author', member, { createdByIds: [] }, newest],
      ['a rare name', everyone, { partOfName: 'zeppelin' }, newest],
      ['a common name', everyone, { partOfName: 'nightly' }, newest],
      ['a type that few runs have', few, { types: ['THRIFT_SQL'] }, newest],
    ];

    function scope(more: Partial<RunsOfWorkspaces>): RunsOfWorkspaces {
      return { tenantId: mine.tenantId, userId: 0, username: 'u', everyone: false, workspaceId: null, ...more };
    }

    it.each(plans)('for %s', async (_what, scopeOf, filters, order, most = MAX_BLOCKS) => {
      const { dataSource, blocks } = explainedDatabase(api.database);
      const repository = new RunListsRepository(dataSource);
      const asked = filters.createdByIds ? { createdByIds: [everywhere.userId] } : filters;
      await repository.page(scopeOf(), asked, order, 51, null);
      await repository.count(scopeOf(), asked, order.sort);
      expect(Math.max(...blocks)).toBeLessThan(most);
    });
  });
});

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}
