import { Estate } from './harness/estate';
import { type Caller, People, refusal } from './harness/people';
import { setClusterStatus } from './harness/statuses';
import { wholeApi, type TestAnswer } from './harness/test-api';

// Real: the whole API and PostgreSQL.
describe('job configurations', () => {
  const api = wholeApi();
  const people = new People(api);
  let caller: Caller;
  let estate: Estate;
  let cluster: number;
  let workspace: number;
  let jobs: string;
  let conf: string;

  beforeAll(async () => {
    caller = await people.everywhere(await people.tenant());
    estate = new Estate(people, caller);
    cluster = await estate.id('cluster', await estate.parts());
    // The cluster has no nodes, so that jobs wait.
    await setClusterStatus(api.database.manager, cluster, 'RUNNING');
  });

  beforeEach(async () => {
    const made = await caller.call('POST', '/workspace', { name: people.unique('workspace') });
    workspace = Number(made.body.workspace_id);
    jobs = `/workspace/${workspace}/spark/job`;
    conf = people.unique('job');
    await create(conf);
  });

  const create = (name: string, changes: object = {}) =>
    caller.call('POST', `${jobs}/conf`, {
      name,
      cluster_id: cluster,
      job_type: 'Python3',
      command: 'job.py',
      driver_memory: '1g',
      conf: ['spark.a=1'],
      ...changes,
    });
  const of = (path = '', name = conf) => `${jobs}/conf${path}?job_conf_name=${name}`;
  const update = (body: object) => caller.call('PUT', of(), body);
  const submit = () => caller.call('POST', jobs, { job_conf_name: conf });
  const stopJob = (id: unknown) => caller.call('POST', `${jobs}/kill/${String(id)}`);
  const row = async () =>
    (
      await api.database.query('SELECT max_concurrency, unfinished_runs FROM job_confs WHERE workspace_id = $1', [
        workspace,
      ])
    )[0];

  it('change only the fields sent, and null clears; jobs submitted before keep their settings', async () => {
    const job = (await submit()).body.job_id;
    const changed = await update({
      driver_memory: null,
      job_command: 'other.py',
      conf: ['spark.b=2'],
      name: `${conf}-2`,
    });
    expect(changed).toMatchObject({
      status: 201,
      body: { name: `${conf}-2`, driver_memory: null, command: 'other.py', conf: ['spark.b=2'] },
    });
    const { body } = await caller.call('GET', `${jobs}/${job}`);
    expect(body.job_conf).toMatchObject({ name: conf, driver_memory: '1g', command: 'job.py', conf: ['spark.a=1'] });
    expect((await caller.call('GET', of('', `${conf}-2`))).body).toMatchObject({
      command: 'other.py',
      spark_job_type: { language: 'Python3' },
      last_update_date: expect.any(String),
    });
  });

  it.each<[string, object, [number, string]]>([
    ['nothing', {}, [400, 'REQUEST.EMPTY_UPDATE']],
    ['another type', { job_type: 'Jar' }, [400, 'REQUEST.INVALID']],
    ['what the type needs taken away', { command: null }, [400, 'JOB_CONF.FIELD_REQUIRED']],
    ['what the type refuses', { rawScalaCode: 'val a = 1' }, [400, 'JOB_CONF.FIELD_REFUSED']],
    ['conf that is not key=value', { conf: ['spark.a'] }, [400, 'JOB_CONF.INVALID_CONF']],
    ["a property of the platform's", { conf: ['spark.a=1', 'spark.master=local'] }, [400, 'JOB_CONF.PROPERTY_OWNED']],
    ['a heap that Spark cannot read', { executor_memory: '12 potatoes' }, [400, 'REQUEST.INVALID']],
    ['a time that Spark cannot read', { conf: ['spark.network.timeout=2 minutes'] }, [400, 'JOB_CONF.INVALID_CONF']],
    ['a file outside the workspace', { files: ['../../etc/passwd'] }, [400, 'FILE.INVALID_PATH']],
    ['an archive from there', { archives: ['../x.zip#env'] }, [400, 'FILE.INVALID_PATH']],
    ['one URI with a comma', { jars: ['s3a://b/a,b.jar'] }, [400, 'JOB_CONF.INVALID_FILE']],
    ['an archive into another folder', { archives: ['x.zip#../work'] }, [400, 'JOB_CONF.INVALID_ARCHIVE']],
    ['an archive into two folders', { archives: ['x.zip#a,/etc/passwd'] }, [400, 'JOB_CONF.INVALID_ARCHIVE']],
    ['a keytab outside the workspace', { keytab: '../x.keytab' }, [400, 'FILE.INVALID_PATH']],
    ['a keytab that Spark cannot read', { keytab: 's3a://b/x.keytab' }, [400, 'JOB_CONF.INVALID_KEYTAB']],
    ['a cluster that is not there', { cluster_id: 999_999 }, [404, 'CLUSTER.NOT_FOUND']],
  ])('refuse %s and stay as they are', async (_what, body, expected) => {
    const before = (await caller.call('GET', of())).body;
    expect(refusal(await update(body))).toEqual(expected);
    expect((await caller.call('GET', of())).body).toEqual(before);
  });

  it('of SQL accept only arguments of spark-sql', async () => {
    const sql = (args: string) =>
      create(people.unique('sql'), { job_type: 'SQL', command: undefined, rawScalaCode: 'SELECT 1', arguments: args });
    expect((await sql('--hivevar a=1 -S')).status).toBe(200);
    for (const smuggled of ['--master local[7]', '-S --conf spark.authenticate=false', '--hivevar --packages a:b:1'])
      expect(refusal(await sql(smuggled))).toEqual([400, 'JOB_CONF.INVALID_ARGUMENTS']);
  });

  it('accept arguments and conf for a single job if the lookup of their type allows it', async () => {
    await create('sql', { job_type: 'SQL', command: undefined, rawScalaCode: 'SELECT 1' });
    const run = (name: string, more: object) => caller.call('POST', jobs, { job_conf_name: name, ...more });
    expect((await run(conf, { arguments: 'a b', conf: ['spark.a=2'] })).status).toBe(200);
    const refused = await run('sql', { arguments: 'a b' });
    expect(refusal(refused)).toEqual([400, 'JOB.FIELD_REFUSED']);
    expect(refused.body.details).toEqual({ field: 'arguments' });
    for (const more of [{ conf: ['spark.a=2'] }, { arguments: null }, { arguments: '' }]) {
      expect((await run('sql', more)).status).toBe(200);
    }
  });

  it('cannot set properties of the platform, nor can a single job', async () => {
    const owned = ['spark.authenticate.secret=known'];
    const made = await create(people.unique('job'), { conf: owned });
    expect(refusal(made)).toEqual([400, 'JOB_CONF.PROPERTY_OWNED']);
    expect(made.body.details).toEqual({ property: 'spark.authenticate.secret' });
    const run = await caller.call('POST', jobs, { job_conf_name: conf, conf: owned });
    expect([refusal(run), run.body.details]).toEqual([[400, 'JOB.PROPERTY_OWNED'], made.body.details]);
  });

  it('are refused with a heap that Spark cannot read, and say what it reads', async () => {
    const made = await create(people.unique('job'), { driver_memory: '12 potatoes' });
    const text =
      'driver_memory must be a whole number greater than 0 with a unit (b, k, kb, m, mb, g, gb, t, tb, p or pb), ' +
      'such as 512m or 2g, and not "12 potatoes"';
    expect(made).toMatchObject({
      status: 400,
      body: { error_message: `The request is not valid: ${text}.`, details: { fields: { driver_memory: [text] } } },
    });
    const overhead = ['spark.executor.memoryOverhead=12 potatoes'];
    const run = await caller.call('POST', jobs, { job_conf_name: conf, conf: overhead });
    expect(refusal(run)).toEqual([400, 'JOB.INVALID_CONF']);
    expect(run.body.details).toEqual({ property: 'spark.executor.memoryOverhead' });
  });

  it('of an older release with such a heap can be read and changed', async () => {
    const wrong = { driver_memory: '12 potatoes', conf: ['spark.executor.cores=two'] };
    await api.database.query('UPDATE job_confs SET settings = settings || $1 WHERE workspace_id = $2', [
      JSON.stringify(wrong),
      workspace,
    ]);
    expect(await caller.call('GET', of())).toMatchObject({ status: 200, body: wrong });
    expect(await update({ executor_memory: '2gb' })).toMatchObject({ status: 201, body: wrong });
    expect(await update({ driver_memory: '1GB', conf: null })).toMatchObject({ body: { driver_memory: '1GB' } });
  });

  it('of an older release that set such properties can change all else, and run', async () => {
    await api.database.query(
      `UPDATE job_confs SET settings = settings || '{"conf": ["spark.master=local"]}' WHERE workspace_id = $1`,
      [workspace],
    );
    expect(await update({ driver_memory: '2g' })).toMatchObject({
      status: 201,
      body: { conf: ['spark.master=local'] },
    });
    expect((await submit()).status).toBe(200);
    expect((await update({ conf: ['spark.a=2'] })).status).toBe(201);
  });

  it('are found by a part of their name, as are their jobs', async () => {
    await create(people.unique('other'));
    const job = (await submit()).body.job_id;
    const part = conf.slice(1).toUpperCase();
    for (const [path, found] of [
      [`${jobs}/confs`, 2],
      [`${jobs}/confs/search?job_conf_name=${part}`, 1],
      [`${jobs}s`, 1],
      [`${jobs}s/search?job_conf_name=${part}`, 1],
      [`${jobs}s/search?job_conf_name=nothing`, 0],
    ] as const) {
      const { status, body } = await caller.call('GET', path);
      expect([path, status, body.data.length]).toEqual([path, 200, found]);
      if (path.startsWith(`${jobs}s`) && found > 0)
        expect(body.data[0]).toMatchObject({ job_id: Number(job), job_conf: { name: conf } });
    }
  });

  it('refuse a name that is taken', async () => {
    const other = people.unique('job');
    await create(other);
    expect(refusal(await update({ name: other }))).toEqual([409, 'RECORD.DUPLICATE_NAME']);
  });

  it('count their unfinished jobs from the start of a limit to its end', async () => {
    const [first] = [(await submit()).body.job_id, (await submit()).body.job_id];
    expect(await row()).toEqual({ max_concurrency: 0, unfinished_runs: null });
    await update({ max_concurrency: 2 });
    expect(await row()).toEqual({ max_concurrency: 2, unfinished_runs: 2 });
    expect(refusal(await submit())).toEqual([409, 'JOB_CONF.MAX_CONCURRENCY']);
    await stopJob(first);
    expect((await submit()).status).toBe(200);
    await update({ max_concurrency: 1 });
    expect(await row()).toEqual({ max_concurrency: 1, unfinished_runs: 2 });
    await update({ max_concurrency: 0 });
    expect((await submit()).status).toBe(200);
    expect(await row()).toEqual({ max_concurrency: 0, unfinished_runs: null });
  });

  it('miss none of the jobs submitted while a limit starts', async () => {
    const statuses = await Promise.all([
      ...Array.from({ length: 8 }, () => submit()),
      update({ max_concurrency: 3 }),
      ...Array.from({ length: 8 }, () => submit()),
    ]);
    expect(statuses[8]?.status).toBe(201);
    const [{ unfinished }] = await api.database.query(
      'SELECT count(*)::int AS unfinished FROM runs WHERE workspace_id = $1 AND ended_at IS NULL',
      [workspace],
    );
    expect((await row()).unfinished_runs).toBe(unfinished);
  });

  it('are disabled and enabled once each, and accept no jobs or changes meanwhile', async () => {
    expect(await caller.call('PUT', of('/disable'))).toMatchObject({
      status: 201,
      body: { to_date: expect.any(String) },
    });
    expect(refusal(await caller.call('PUT', of('/disable')))).toEqual([409, 'JOB_CONF.INVALID_STATE']);
    expect(refusal(await submit())).toEqual([409, 'JOB_CONF.DISABLED']);
    expect(refusal(await update({ driver_memory: '2g' }))).toEqual([409, 'JOB_CONF.DISABLED']);
    expect((await caller.call('GET', of())).status).toBe(200);
    expect(await caller.call('PUT', of('/enable'))).toMatchObject({ status: 201, body: { to_date: null } });
    expect(refusal(await caller.call('PUT', of('/enable')))).toEqual([409, 'JOB_CONF.INVALID_STATE']);
    expect((await submit()).status).toBe(200);
  });

  it('cannot be enabled while their name is taken', async () => {
    const { job_conf_id: id } = (await caller.call('GET', of())).body;
    await caller.call('PUT', of('/disable'));
    await create(conf);
    const answer = await caller.call('PUT', `${jobs}/conf/enable?job_conf_id=${id}`);
    expect(refusal(answer)).toEqual([409, 'RECORD.DUPLICATE_NAME']);
  });

  it('are deleted once all of their jobs have ended, which stay readable', async () => {
    const job = (await submit()).body.job_id;
    expect(refusal(await caller.call('DELETE', of()))).toEqual([409, 'JOB_CONF.IN_USE']);
    await stopJob(job);
    await caller.call('PUT', of('/disable'));
    expect(await caller.call('DELETE', of())).toMatchObject({ status: 201, body: { message: expect.any(String) } });
    for (const gone of [
      await caller.call('GET', of()),
      await caller.call('PUT', of('/enable')),
      await caller.call('DELETE', of()),
      await submit(),
    ]) {
      expect(refusal(gone)).toEqual([404, 'JOB_CONF.NOT_FOUND']);
    }
    expect((await caller.call('GET', `${jobs}/conf`.replace('/conf', '/confs'))).body.data).toEqual([]);
    expect((await caller.call('GET', `${jobs}/${job}`)).body).toMatchObject({ job_conf: { name: conf } });
    expect((await create(conf)).status).toBe(200);
  });

  it('are deleted, or get another job, but not both', async () => {
    const answers = await Promise.all([submit(), caller.call('DELETE', of()), submit()]);
    const isDeleted = answers[1].status === 201;
    const submitted = [answers[0], answers[2]].filter(({ status }) => status === 200);
    expect(submitted.length === 0).toBe(isDeleted);
  });

  it('cannot be changed in a disabled workspace, nor from another one', async () => {
    const other = await caller.call('POST', '/workspace', { name: people.unique('workspace') });
    const { job_conf_id: id } = (await caller.call('GET', of())).body;
    const elsewhere = `/workspace/${other.body.workspace_id}/spark/job/conf`;
    for (const [method, path] of [
      ['PUT', ''],
      ['DELETE', ''],
      ['PUT', '/enable'],
      ['PUT', '/disable'],
      ['GET', '/export'],
    ] as const) {
      const body = path === '' && method === 'PUT' ? { driver_memory: '2g' } : undefined;
      const answer = await caller.call(method, `${elsewhere}${path}?job_conf_id=${id}`, body);
      expect(refusal(answer)).toEqual([404, 'JOB_CONF.NOT_FOUND']);
    }
    await caller.call('PUT', `/workspace/disable?workspace_id=${workspace}`);
    expect(refusal(await update({ driver_memory: '2g' }))).toEqual([409, 'WORKSPACE.DISABLED']);
    expect(refusal(await caller.call('DELETE', of()))).toEqual([409, 'WORKSPACE.DISABLED']);
  });

  it('are exported as a request that recreates them, without values that look secret', async () => {
    await update({
      conf: ['spark.a=1', 'spark.hadoop.fs.s3a.secret.key=hush', 'spark.executorEnv.API_TOKEN=hush'],
      driver_java_options: '-Da=1 -Djavax.net.ssl.trustStorePassword=hush -Db="x y"',
      extra_info: { owner: 'somebody', login: { password: 'hush' } },
    });
    const response = await fetch(api.urlOf(of('/export')), { headers: { authorization: `Bearer ${caller.token}` } });
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${conf}.json"`);
    const text = await response.text();
    expect(text).not.toContain('hush');
    const document = JSON.parse(text) as Record<string, unknown>;
    expect(document).toMatchObject({
      name: conf,
      job_type: 'Python3',
      max_concurrency: 0,
      conf: ['spark.a=1', 'spark.hadoop.fs.s3a.secret.key=', 'spark.executorEnv.API_TOKEN='],
      driver_java_options: '-Da=1 -Djavax.net.ssl.trustStorePassword= -Db="x y"',
      extra_info: { owner: 'somebody', login: { password: '' } },
    });
    const again = await caller.call('POST', `${jobs}/conf`, { ...document, name: `${conf}-2`, cluster_id: cluster });
    expect(again.status).toBe(200);
  });

  it('return the workflow of a job by its application id', async () => {
    const job = (await submit()).body.job_id;
    const details = (id: string): Promise<TestAnswer> =>
      caller.call('GET', `${jobs}/workflow_job_instance_details/${id}`);
    expect(refusal(await details('app-1'))).toEqual([404, 'JOB.NOT_FOUND']);
    await api.database.query(`UPDATE runs SET application_id = 'app-1' WHERE run_id = $1`, [job]);
    await stopJob(job);
    expect((await details('app-1')).body).toMatchObject({
      job_id: Number(job),
      job_status: 'STOPPED',
      workflow_job_instance_details: {
        workflow_job_instance_status: { status: expect.any(String), previous_status: [expect.any(String)] },
      },
    });
  });
});
