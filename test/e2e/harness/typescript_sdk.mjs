// Uses the TypeScript SDK against a platform, as the environment says; prints what it saw as JSON.
import { readFileSync, writeFileSync } from 'node:fs';
import { CellFailed, Client, DeadlineExceeded, NotFound, operations, SqlFailed } from 'managed-spark';

const [part, workspaceName, cluster] = process.argv.slice(2);
const client = new Client();
const workspace = client.workspace(workspaceName);
const settings = { cluster, driver_memory: '512m' };

/** @param {AsyncIterable<unknown>} items */
async function listed(items) {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}

/** @param {Promise<unknown>} work */
const failure = (work) =>
  work.then(
    () => null,
    (error) => error,
  );

async function jobs() {
  // The pauses let the log arrive in pieces.
  const text = 'import sys, time\nfor word in sys.argv[1:]:\n    print(word, flush=True)\n    time.sleep(0.3)\n';
  writeFileSync('words-ts.py', text);
  const run = await workspace.run('words-ts.py', { ...settings, args: ['one', 'two words', 'é'] });
  const lines = await listed(run.follow());
  const done = await run.result();
  const { totals } = await run.metrics();
  const again = await workspace.jobs.submit('words-ts', { idempotencyKey: 'words-once' });
  const same = await workspace.jobs.submit('words-ts', { idempotencyKey: 'words-once' });
  await again.kill();
  const killed = await again.wait();
  return {
    lines,
    status: done.job_status,
    to_date: done.to_date,
    is_int: Number.isInteger(run.id) && Number.isInteger(done.workspace_id),
    tasks: totals.tasks,
    runs: (await listed(workspace.jobs.list({ name: 'words-ts' }))).length,
    same: again.id === same.id,
    killed: killed.job_status,
    log: await run.log('stdout', { last: 1 }),
  };
}

/** @param {string} source */
const cell = (source) => ({ cell_type: 'code', source, metadata: {}, outputs: [], execution_count: null });

async function sessions() {
  const notebook = await workspace.notebook('ts', settings);
  const printed = await notebook.execute('print("hello")');
  const shown = [];
  const summed = await notebook.execute('spark.range(1000).selectExpr("sum(id)").first()[0]', {
    onOutput: ({ id }) => shown.push(id),
  });
  notebook.disconnect();
  const failed = await failure(notebook.execute('{}["x"]'));
  await notebook.stop();

  const file = {
    name: 'Two Cells.ipynb',
    content: JSON.stringify({ cells: [cell('1 / 1'), cell('1 / 0')], metadata: {}, nbformat: 4 }),
  };
  const uploaded = await workspace.defineNotebook(file, settings);
  const instance = await workspace.notebooks.start(uploaded);
  await instance.waitUntilRunning();
  const done = [];
  const stopped = await failure(
    (async () => {
      for await (const { value } of instance.runCells()) done.push(value);
    })(),
  );
  await instance.stop();
  const exported = await (await workspace.notebooks.export(uploaded)).text();

  const { files, secrets } = workspace;
  await files.write('folder/é.txt', 'hello');
  await files.download('folder/é.txt', 'copy.txt');
  await secrets.put('ts-token', 'one');
  await secrets.put('ts-token', 'two');
  const names = (await listed(secrets.list())).map(({ name }) => name);
  await secrets.delete('ts-token');
  const found = (await listed(files.list('', { recursive: true }))).map(({ full_file_path }) => full_file_path);
  await files.delete('folder');
  return {
    notebook: [printed.text, summed.value, failed instanceof CellFailed && failed.type, shown.length > 0],
    cells: [uploaded, done, stopped instanceof CellFailed && stopped.type, exported.includes('ZeroDivisionError')],
    files: [readFileSync('copy.txt', 'utf8'), found.some((path) => path.endsWith('folder/é.txt'))],
    secrets: [names.includes('ts-token'), (await listed(secrets.list())).length],
    missing: (await failure(files.read('folder/é.txt'))) instanceof NotFound,
  };
}

async function sql() {
  const values = [
    "cast(1 as bigint) as long, 9007199254740993 as huge, -2 as small, cast(1.5 as double) as real, true as yes, 'é' as text",
    "cast(null as int) as nothing, cast(1.10 as decimal(5, 2)) as money, binary('ab') as raw, date'2026-11-28' as day, array(1, 2) as list",
  ];
  const server = { cluster, driver_memory: '1g' };
  const table = await workspace.sql(`select ${values.join(', ')}`, server);
  const many = await workspace.sql('select id, if(id % 3 = 0, null, id) as part from range(25000)', {
    ...server,
    maxRows: 24000,
  });
  const nulls = many.rows.filter(([, part]) => part === null).length;
  const created = await workspace.sql('create or replace temporary view v as select 1 as one', server);
  const failed = await failure(workspace.sql('select nothing', server));
  const late = await failure(
    workspace.sql('select count(*) from range(100000) a cross join range(100000) b', { ...server, timeoutMs: 3000 }),
  );
  const [running] = await listed(workspace.jobs.list({ name: `sql-${cluster}`, status: 'RUNNING' }));
  await workspace.jobs.get(running.job_id).kill();
  return {
    types: table.schema.map(({ type }) => type).join(),
    row: table.toObjects().map((row) => ({ ...row, huge: String(row.huge), raw: [...row.raw] })),
    many: [many.rows.length, many.isTruncated, nulls, many.rows.every(([id], index) => id === index)],
    created: created.columns,
    failed: failed instanceof SqlFailed && [failed.sqlState, failed.message.includes('UNRESOLVED_COLUMN')],
    late: late instanceof DeadlineExceeded || String(late),
  };
}

async function clusters() {
  const found = await client.cluster(cluster).details();
  const refused = await failure(client.clusters.start(cluster).wait());
  const stopped = await client.clusters.stop(found.cluster_id).wait();
  await client.clusters.start(cluster);
  const running = await client.cluster(cluster).waitFor('RUNNING');
  return {
    names: (await listed(client.clusters.list({ status: 'RUNNING' }))).map(({ name }) => name),
    refused: [refused.name, refused.code, refused.status],
    statuses: [stopped.cluster_status, running.cluster_status],
    user: Boolean((await client.user()).email),
    workspaces: (await listed(client.workspaces())).map(({ name }) => name),
    types: (await client.call(operations.listMachineTypes, { query: { limit: 1 } })).data.length,
  };
}

console.log(JSON.stringify(await { jobs, sessions, sql, clusters }[part]()));
