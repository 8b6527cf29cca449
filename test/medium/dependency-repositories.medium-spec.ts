import { insertPlain } from './harness/records';
import { setClusterStatus } from './harness/statuses';
import { Estate, type Parts } from './harness/estate';
import { type Caller, People, refusal } from './harness/people';
import { wholeApi, type TestAnswer } from './harness/test-api';

const PATH = '/dependency-repository';
const MIRROR = 'https://mirror.example.org/maven2/';
const MOST = 100;

const ATTACKS = [
  ...['https://user:pw@repo.example/', 'file:///etc', 'javascript:alert(1)', 'https://repo.example/\n--conf', ''],
  ...['https://repo.example/,https://evil.example/', 'https://repo.example/?x', 'https://repo.example/#x', 'maven'],
  ...['https:\\\\repo.example', ' https://repo.example/', `https://repo.example/${'a'.repeat(5000)}`],
];

// Real: the whole API and PostgreSQL.
describe('dependency repositories', () => {
  const api = wholeApi({ MAVEN_REPOSITORY_URL: 'https://mirror.example.org/maven2' });
  const people = new People(api);

  const add = (caller: Caller, url: string, name = people.unique('repository')): Promise<TestAnswer> =>
    caller.call('POST', PATH, { name, url });

  describe('as a list', () => {
    let admin: Caller;

    beforeEach(async () => {
      admin = await people.admin(await people.tenant());
    });

    it('are stored in canonical form, changed and deleted', async () => {
      const made = await add(admin, 'HTTPS://Repo.Example:443/a/../x', 'mine');
      expect(made).toMatchObject({
        status: 200,
        body: { name: 'mine', url: 'https://repo.example/x/', to_date: null },
      });
      const changed = await admin.call('PUT', `${PATH}?dependency_repository_name=mine`, {
        description: 'ours',
        url: 'http://10.0.0.5:8081/maven2',
      });
      expect(changed).toMatchObject({
        status: 201,
        body: { description: 'ours', url: 'http://10.0.0.5:8081/maven2/' },
      });
      const id = made.body.dependency_repository_id;
      expect((await admin.call('GET', `${PATH}?dependency_repository_id=${id}`)).body).toMatchObject({
        dependency_repository_id: Number(id),
        url: 'http://10.0.0.5:8081/maven2/',
      });
      const found = await admin.call('GET', '/dependency-repositories/search?dependency_repository_name=min');
      expect(found.body.data).toHaveLength(1);
      expect((await admin.call('DELETE', `${PATH}?dependency_repository_id=${id}`)).status).toBe(201);
      expect((await admin.call('GET', '/dependency-repositories')).body.data).toEqual([]);
      expect((await add(admin, 'http://10.0.0.5:8081/maven2', 'mine')).status).toBe(200);
    });

    it('have unique names and URLs in a tenant', async () => {
      expect((await add(admin, 'https://repo.example/a', 'first')).status).toBe(200);
      expect(refusal(await add(admin, 'https://repo.example/b', 'first'))).toEqual([409, 'RECORD.DUPLICATE_NAME']);
      expect(refusal(await add(admin, 'https://repo.example/a/'))).toEqual([409, 'RECORD.DUPLICATE_URL']);
      await add(admin, 'https://repo.example/b', 'second');
      const change = await admin.call('PUT', `${PATH}?dependency_repository_name=second`, {
        url: 'https://repo.example/a',
      });
      expect(refusal(change)).toEqual([409, 'RECORD.DUPLICATE_URL']);
      expect((await add(await people.admin(await people.tenant()), 'https://repo.example/a', 'first')).status).toBe(
        200,
      );
    });

    it.each(ATTACKS)('refuse the URL %j', async (url) => {
      expect((await add(admin, url)).status).toBe(400);
      await add(admin, 'https://repo.example/a', 'changing');
      const change = await admin.call('PUT', `${PATH}?dependency_repository_name=changing`, { url });
      expect(change.status).toBe(400);
      const { body } = await admin.call('GET', '/dependency-repositories');
      expect(body.data).toMatchObject([{ url: 'https://repo.example/a/' }]);
    });

    it('are limited to a hundred, even if they are added concurrently', async () => {
      const tenant = await people.tenant();
      const owner = await people.admin(tenant);
      for (let index = 2; index < MOST; index += 1) {
        await insertPlain(api.database.manager, 'dependency_repositories', {
          tenant_id: tenant,
          name: `of-${index}`,
          url: `https://repo.example/${index}/`,
        });
      }
      const added = await Promise.all(Array.from({ length: 5 }, (_, n) => add(owner, `https://other.example/${n}`)));
      expect(added.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409, 409]);
      expect(refusal(await add(owner, 'https://other.example/'))).toEqual([409, 'DEPENDENCY_REPOSITORY.TOO_MANY']);
      await owner.call('DELETE', `${PATH}?dependency_repository_name=of-2`);
      expect((await add(owner, 'https://other.example/')).status).toBe(200);
    });

    it('are changed by administrators and read by all users of the tenant', async () => {
      const tenant = await people.tenant();
      const platformAdmin = await people.as(await people.user([['PLATFORM ADMIN', null]]), tenant);
      expect((await add(platformAdmin, 'https://repo.example/', 'theirs')).status).toBe(200);
      for (const role of ['USER', 'CAN MANAGE CLUSTER'] as const) {
        const caller = await people.as(await people.user([[role, tenant]]), tenant);
        expect(refusal(await add(caller, 'https://other.example/'))).toEqual([403, 'AUTH.ROLE_REQUIRED']);
        expect((await caller.call('DELETE', `${PATH}?dependency_repository_name=theirs`)).status).toBe(403);
        expect((await caller.call('GET', '/dependency-repositories')).body.data).toHaveLength(1);
      }
    });
  });

  describe('that jobs and clusters may name', () => {
    const OWN = 'https://own.example/maven2/';
    const FOREIGN = 'https://foreign.example/maven2/';
    let caller: Caller;
    let estate: Estate;
    let parts: Parts;
    let cluster: number;
    let workspace: number;
    let jobs: string;

    beforeAll(async () => {
      caller = await people.everywhere(await people.tenant());
      estate = new Estate(people, caller);
      parts = await estate.parts();
      await add(caller, OWN, 'own');
      await add(await people.admin(await people.tenant()), FOREIGN);
    });

    beforeEach(async () => {
      cluster = await estate.id('cluster', parts);
      // The cluster has no nodes, so that jobs wait.
      await setClusterStatus(api.database.manager, cluster, 'RUNNING');
      workspace = await people.workspace(caller);
      jobs = `/workspace/${workspace}/spark/job`;
    });

    const createConf = (name: string, changes: object = {}) =>
      caller.call('POST', `${jobs}/conf`, {
        name,
        cluster_id: cluster,
        job_type: 'Python3',
        command: 'a.py',
        ...changes,
      });
    const updateConf = (name: string, changes: object) =>
      caller.call('PUT', `${jobs}/conf?job_conf_name=${name}`, changes);
    const submit = (name: string) => caller.call('POST', jobs, { job_conf_name: name });
    const importConf = (settings: object, query = '') =>
      caller.call('POST', `/workspace/import?workspace_id=${workspace}&cluster_id=${cluster}${query}`, {
        workspace: {},
        spark_job_confs: [
          { name: 'imported', job_type: 'Python3', command: 'a.py', ...settings },
          { name: 'good', job_type: 'Python3', command: 'a.py' },
        ],
      });

    /** Every operation that accepts repositories, and the prefix of its error codes. */
    const WAYS: [string, string, number, (settings: object) => Promise<TestAnswer>][] = [
      ['a new job configuration', 'JOB_CONF', 200, (settings) => createConf(people.unique('job'), settings)],
      [
        'a changed job configuration',
        'JOB_CONF',
        201,
        async (settings) => {
          const name = people.unique('job');
          await createConf(name);
          return updateConf(name, settings);
        },
      ],
      ['an imported job configuration', 'JOB_CONF', 200, (settings) => importConf(settings)],
      ['a new cluster', 'CLUSTER', 200, (settings) => estate.create('cluster', parts, { spark_config: settings })],
      [
        'a changed cluster',
        'CLUSTER',
        201,
        (settings) => estate.update('cluster', cluster, { spark_config: settings }),
      ],
    ];

    describe.each(WAYS)('%s', (_way, code, success, send) => {
      it('accepts repositories of the list and the platform in any spelling, and packages', async () => {
        const repositories = [OWN, 'https://OWN.example/maven2', MIRROR, 'https://mirror.example.org:443/maven2'];
        const answer = await send({ repositories, packages: ['a:b:1', 'a/b:1'] });
        expect(answer.status).toBe(success);
      });

      it.each([FOREIGN, 'own', 'https://repo1.maven.org/maven2/', 'https://own.example/maven2/../x', ...ATTACKS])(
        'refuses %j',
        async (repository) => {
          const answer = await send({ repositories: [OWN, repository] });
          expect(refusal(answer)).toEqual([400, `${code}.REPOSITORY_NOT_ALLOWED`]);
          expect(answer.body.error_message).toContain('Ask an administrator to add it');
          expect(answer.body.error_message).not.toContain('user:pw');
        },
      );

      it.each(['a:b', '-a:b:1', 'a:b:1,c:d:2', 'a:b:1\n', 'ä:b:1', `a:b:${'1'.repeat(5000)}`])(
        'refuses the package %j',
        async (text) => {
          expect(refusal(await send({ packages: ['a:b:1', text] }))).toEqual([400, `${code}.INVALID_PACKAGE`]);
        },
      );
    });

    it('are named in the report of a permissive import', async () => {
      const { body } = await importConf({ repositories: [FOREIGN] }, '&permissive=true');
      expect(body).toMatchObject({
        imported: { spark_job_confs: 1 },
        failed: [{ name: 'imported', error_code: 'JOB_CONF.REPOSITORY_NOT_ALLOWED' }],
      });
    });

    it.each<['the job configuration' | 'the cluster']>([['the job configuration'], ['the cluster']])(
      'of %s are checked again at each submission',
      async (who) => {
        const settings = { repositories: ['https://gone.example'] };
        const { body } = await add(caller, 'https://gone.example/');
        if (who === 'the cluster') await estate.update('cluster', cluster, { spark_config: settings });
        await createConf('job', who === 'the cluster' ? {} : settings);
        expect((await submit('job')).status).toBe(200);
        await caller.call('DELETE', `${PATH}?dependency_repository_id=${body.dependency_repository_id}`);
        const refused = await submit('job');
        expect(refusal(refused)).toEqual([409, 'JOB.REPOSITORY_NOT_ALLOWED']);
        expect(refused.body.details).toEqual({ repository: 'https://gone.example' });
        // Changes of other fields still succeed.
        expect((await updateConf('job', { driver_memory: '2g' })).status).toBe(201);
        const other = { description: 'changed', spark_config: { env_var: ['A=b'] } };
        expect((await estate.update('cluster', cluster, other)).status).toBe(201);
        const without = { repositories: null };
        await (who === 'the cluster'
          ? estate.update('cluster', cluster, { spark_config: without })
          : updateConf('job', without));
        expect((await submit('job')).status).toBe(200);
      },
    );

    it('of an older release do not prevent changes of other fields', async () => {
      await createConf('job');
      await api.database.query(
        `UPDATE job_confs SET settings = settings || '{"packages": ["nonsense"], "repositories": ["file:///etc"]}'
         WHERE workspace_id = $1`,
        [workspace],
      );
      expect((await updateConf('job', { driver_memory: '2g' })).status).toBe(201);
      expect(refusal(await submit('job'))).toEqual([409, 'JOB.REPOSITORY_NOT_ALLOWED']);
      expect((await updateConf('job', { packages: [], repositories: [] })).status).toBe(201);
      expect((await submit('job')).status).toBe(200);
    });
  });
});
