import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startedProcess } from '../../libs/node-agent/driver-process';
import { identify } from '../../libs/node-agent/processes';
import { executeStatement, fetchResults, handleIn, openSession } from '../harness/hive-messages';
import { done, SparkNode, strictestConfinement, type EndedRun } from '../harness/spark-node';
import { compileJar } from './harness/jobs';

/** Prints all that code of a run can see of its process, its machine and its Spark, as JSON. */
const PROBE = `
import json, locale, os, random, resource, signal, sys, time
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
sc = spark.sparkContext
system = sc._jvm.java.lang.System
def status(name):
    lines = open('/proc/self/status').read().split('\\n')
    return [line.split(':', 1)[1].strip() for line in lines if line.startswith(name + ':')][0]
print(json.dumps({
    'environment of Python': dict(os.environ),
    'environment of the JVM': dict(system.getenv()),
    'system properties': {str(k): str(v) for k, v in dict(system.getProperties()).items()},
    'Spark properties': dict(sc.getConf().getAll()),
    'SQL settings': {row.key: row.value for row in spark.sql('SET').collect()},
    'Hadoop user': sc._jvm.org.apache.hadoop.security.UserGroupInformation.getCurrentUser().toString(),
    'secrets of Hadoop': sc._jvm.org.apache.hadoop.security.UserGroupInformation.getCurrentUser().getCredentials().numberOfSecretKeys(),
    'sessions': [str(sc._jvm.org.apache.spark.sql.SparkSession.getActiveSession().isDefined()), spark.catalog.currentDatabase()],
    'arguments': [sys.argv, sys.flags.__repr__(), sys.executable, sys.path, sys.orig_argv],
    'main': sorted(name for name in globals() if name.startswith('__')),
    'streams': [sys.stdout.encoding, sys.stderr.encoding, sys.stdout.line_buffering, locale.getpreferredencoding()],
    'folder': os.getcwd(),
    'files': sorted(os.listdir('.')) + sorted(os.listdir(os.environ['TMPDIR'])) + sorted(os.listdir(os.environ['HOME'])),
    'identity': [os.getuid(), os.getgid(), os.umask(0o22), status('CapEff'), status('NoNewPrivs'), status('SigIgn'), status('SigBlk')],
    'nice': os.nice(0),
    'readable': [name for name in ('/root', '/etc/shadow', '/tmp', os.path.dirname(os.getcwd()) + '/../..') if os.access(name, os.R_OK)],
    'limits': [resource.getrlimit(kind) for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_AS)],
    'time zone': [time.tzname, sc._jvm.java.util.TimeZone.getDefault().getID()],
    'signals': [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)],
    'applications': sorted(name for name in os.listdir(sc.getConf().get('spark.eventLog.dir')[7:])),
}))
print('to stderr', file=sys.stderr)
`;

/** Lists the files of the run's channel that code of a cell can open, in whichever process. */
const OPENED_CHANNELS = `
import glob, os
def opened(path):
    try:
        return os.path.basename(os.readlink(path)) in ('requests', 'frames')
    except OSError:
        return False
[path for path in glob.glob('/proc/[0-9]*/fd/*') if opened(path)]`;

/** Names where the kernel and the Python workers of its JVM look for packages that are installed for the run. */
const PATHS = `
import os, sys
def first(_):
    import os
    return os.environ['PYTHONPATH'].split(':')
work = os.getcwd()
own = [os.path.relpath(path, work) for path in os.environ['PYTHONPATH'].split(':')]
own + sorted({os.path.relpath(path, work) for path in spark.sparkContext.parallelize([1], 1).flatMap(first).collect() if path.startswith(work)})`;

/** Returns what the probe has found without what differs between any two runs: folders, ports, times and random names. */
function withoutChance(run: EndedRun, dir: string): Record<string, unknown> {
  const text = run.stdout
    .replaceAll(new RegExp(`${dir}/(?:runs/\\d+|warm/[-0-9a-f]+)`, 'g'), 'RUN')
    .replaceAll(/190020\d{4}/g, '0')
    .replaceAll(/job-\d+\.py/g, 'job.py')
    .replaceAll(/local-\d{13}/g, 'APPLICATION')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/[0-9a-f]{64}/g, 'SECRET')
    .replaceAll(/0x[0-9a-f]+/g, 'ADDRESS')
    .replaceAll(/"(\d{5}|\d{13})"/g, '"NUMBER"');
  const { 'system properties': properties, ...rest } = JSON.parse(text) as Record<string, object>;
  // It is the same command, but the launcher puts its options in another order.
  return { ...rest, 'system properties': { ...properties, 'sun.java.command': undefined } };
}

describe('a driver that waits for runs', () => {
  let node: SparkNode;

  beforeEach(() => {
    node = new SparkNode({}, strictestConfinement());
  });

  afterEach(() => node.close());

  it('shows a run what a driver of its own shows it', async () => {
    const change = { python: PROBE, env: { MINE: 'of the run' }, arguments: ['one', 'two words'], name: 'probe' };
    const cold = done(await node.run(change));
    await node.warmUp();
    const warm = done(await node.run(change));
    expect([cold.started_warm, warm.started_warm]).toEqual([false, true]);
    expect(cold.cold_reason).toBe('The cluster keeps no drivers ready.');
    expect(withoutChance(warm, node.dir)).toEqual(withoutChance(cold, node.dir));
    expect(warm.stderr).toContain('to stderr');
    expect(warm.stderr).not.toContain('rehearsal');
  });

  it('takes a run once if the agent ends after it has recorded the handover', async () => {
    await node.warmUp();
    const file = `${node.dir}/shared/ran`;
    const python = `open(${JSON.stringify(file)}, 'a').write('once\\n')`;
    const run = node.accept({ python });
    const pipe = join(node.dir, 'runs', run.id, 'handover');
    // A closed run does not report that it fails, as one of an agent that has ended.
    run.close();
    renameSync(pipe, `${pipe}.away`);
    await run.begin();
    renameSync(`${pipe}.away`, pipe);
    expect(existsSync(file)).toBe(false);
    const [restored] = await node.restore();
    const ended = done(await node.end(restored ?? run));
    expect(ended.started_warm).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('once\n');
  });

  it('is ended and replaced by another if the agent ends before the handover', async () => {
    await node.warmUp();
    const file = `${node.dir}/shared/ran`;
    const run = node.accept({ python: `open(${JSON.stringify(file)}, 'a').write('once\\n')` });
    run.close();
    const [restored] = await node.restore();
    const ended = done(await node.end(restored ?? run));
    expect(ended).toMatchObject({ started_warm: false, cold_reason: 'The agent was restarted.' });
    expect(readFileSync(file, 'utf8')).toBe('once\n');
  });

  it('is not used by a run that sets what a JVM reads only once', async () => {
    await node.warmUp();
    const python = `
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
print(spark.sparkContext._jvm.java.lang.System.getProperty('mine'))
`;
    const run = done(await node.run({ python, conf: ['spark.driver.extraJavaOptions=-Dmine=yes'] }));
    expect(run.stdout).toBe('yes\n');
    expect(run.cold_reason).toBe('It sets the Spark property spark.driver.extraJavaOptions.');
  });

  it.each([
    ['sql', { kind: 'sql' as const, code: "SELECT 6 * 7 AS answer, current_user() <> '' AS named" }, '42\ttrue\n'],
    ['Scala', { kind: 'raw-scala' as const, code: 'println(spark.range(42).count())' }, '42\n'],
  ])('becomes a %s job', async (_language, change, output) => {
    await node.warmUp();
    const run = done(await node.run(change));
    expect(run.started_warm).toBe(true);
    expect(run.stdout).toContain(output);
  });

  it('becomes a job in a jar', async () => {
    const source = `
object App {
  def main(words: Array[String]): Unit = {
    val spark = org.apache.spark.sql.SparkSession.builder.getOrCreate()
    println(words.mkString(" ") + " " + spark.range(42).count())
  }
}`;
    writeFileSync(`${node.dir}/scripts/app.jar`, await compileJar(node.runtime, source));
    await node.warmUp();
    const application = { kind: 'uri' as const, index: 0, name: 'app.jar', uri: `${node.dir}/scripts/app.jar` };
    const run = done(await node.run({ kind: 'jar', class_name: 'App', arguments: ['it', 'counts'], application }));
    expect(run.started_warm).toBe(true);
    expect(run.stdout).toBe('it counts 42\n');
  });

  const notebook = { kind: 'notebook' as const, application: null, kernel: { language: 'python' as const } };

  it('becomes a kernel, which outlives its JVM and shows nobody its channel', async () => {
    await node.warmUp();
    const { value, ended } = await node.serve(notebook, async (served) => {
      await served.frame(({ state }) => state === 'idle', 'a kernel');
      const sum = await served.cell('spark.range(10).count()');
      const opened = await served.cell(OPENED_CHANNELS);
      const paths = await served.cell(PATHS);
      const killed = await served.cell(
        'import os; os.kill(int(os.environ["HANDED_JVM_PID"]), 9); import time; time.sleep(9)',
      );
      const dead = await served.frame(({ state }) => state === 'dead', 'the end of the kernel');
      served.send({ op: 'restart', generation: 2 });
      await served.frame(({ state, generation }) => state === 'idle' && generation === 2, 'another kernel');
      const again = await served.cell('spark.range(11).count(), "HANDED_JVM_PID" in __import__("os").environ', 2);
      return { sum, opened, paths, killed, why: dead.reason, again };
    });
    expect(value).toEqual({
      sum: '10',
      opened: '[]',
      paths: "['site-packages', 'site-packages']",
      killed: expect.stringMatching(/^KernelDied: /),
      why: 'The kernel ended. The JVM of Spark ended (SIGKILL). Its node may lack memory.',
      again: '(11, False)',
    });
    expect(ended).toMatchObject({ outcome: 'stopped', exit_code: 0, started_warm: true });
    expect(ended.stderr).not.toContain('rehearsal');
  });

  it('becomes a function', async () => {
    const source = 'def twice(event):\n    return spark.range(event["n"] * 2).count()\n';
    const zip = `${node.dir}/scripts/project.zip`;
    const make = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w").writestr("main.py", sys.argv[2])';
    execFileSync(node.runtime.python, ['-c', make, zip, source]);
    const served = {
      project: { kind: 'uri' as const, index: 0, name: 'project.zip', uri: zip },
      ...{ script: 'main.py', name: 'twice', requirements_file: null, requirements: null },
      ...{ max_request_concurrency: 1, idle_timeout_sec: null },
    };
    await node.warmUp();
    const { value, ended } = await node.serve(
      { kind: 'function', application: null, function: served },
      async (run) => {
        await run.frame(({ op }) => op === 'ready', 'a function');
        return (await run.call('{"n": 21}')).toString();
      },
    );
    expect(value).toBe('42');
    expect(ended).toMatchObject({ outcome: 'stopped', exit_code: 0, started_warm: true });
  });

  it('becomes a SQL server, and ends as one', async () => {
    await node.warmUp();
    const server = { kind: 'thrift' as const, application: null, sql_idle_timeout_sec: 2 };
    const { value, ended } = await node.serve(server, async (served) => {
      await served.frame(({ op }) => op === 'ready', 'a SQL server');
      const session = handleIn(await served.call(openSession()));
      const operation = handleIn(await served.call(executeStatement(session, "SELECT repeat('42 ', 3) AS answer")));
      return (await served.call(fetchResults(operation))).toString('latin1');
    });
    expect(value).toContain('42 42 42');
    expect(done(ended)).toMatchObject({ exit_code: 0, started_warm: true });
    expect(ended.stdout).toContain('The server received no calls for 2 seconds.');
  });

  // Its rehearsal had a secret of its own, with which the master would refuse it.
  it('becomes a job of a cluster, with the secret of the cluster', async () => {
    const master = await node.startCluster();
    await node.warmUp();
    const python = `
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
print(spark.sparkContext.master, spark.sparkContext.parallelize(range(42), 2).count())
`;
    const run = done(await node.run({ python, master }));
    expect(run.started_warm).toBe(true);
    expect(run.stdout).toBe(`${master} 42\n`);
  });

  it('has the heap of each run that recurs, and ends with a run that is stopped before the handover', async () => {
    const heaps = ['512m', '640m'];
    node.wantDrivers(2);
    for (const driver_memory of [...heaps, ...heaps]) {
      const run = node.accept({ python: 'print(1)', driver_memory });
      run.stop('stop', 0);
      expect(await node.end(run)).toMatchObject({ outcome: 'stopped', started_warm: false });
    }
    await node.warmUp(2);
    for (const driver_memory of heaps) {
      const run = node.accept({ python: 'print(1)', driver_memory });
      // Only a driver that has waited runs before its run has begun.
      const { pid } = startedProcess(`${node.dir}/runs/${run.id}`) ?? { pid: 0 };
      expect(identify(pid)).not.toBeNull();
      run.stop('stop', 0);
      expect(await node.end(run)).toMatchObject({ outcome: 'stopped', reason: 'STOP_REQUESTED', stdout: '' });
      expect(identify(pid)).toBeNull();
    }
  });
});
