import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { DesiredDaemons, ObservedDaemons } from '../../libs/contracts/agent-protocol';
import { BoundedLog } from '../../libs/node-agent/bounded-log';
import { Daemons } from '../../libs/node-agent/daemons';
import { readTail } from '../../libs/node-agent/files';
import { NodeLog } from '../../libs/node-agent/node-log';
import { markedProcesses } from '../../libs/node-agent/processes';
import { Sandboxes } from '../../libs/node-agent/sandboxes';
import { daemonJava } from '../../libs/spark/daemon-java';
import { driverJava, SUBMIT_CLASS } from '../../libs/spark/driver-java';
import { baseEnvironment, type SparkRuntime } from '../../libs/spark/submit-command';
import { eventually } from '../harness/eventually';
import { preparedRuntime } from '../harness/prepared-runtime';

const execFileAsync = promisify(execFile);

const WORKER = 'org.apache.spark.deploy.worker.Worker';
const EARLY_WORKER = 'org.apache.spark.deploy.early.EarlyWorker';
const OPTIONS_OF_DAEMONS = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
const SECRET = 'the-secret-of-the-cluster';

/** Prints the command line of the executor, whose child started this task's Python. */
const JOB = `
from pyspark.sql import SparkSession

def command(_):
    import os
    parent = lambda pid: next(line.split()[1] for line in open("/proc/%s/status" % pid) if line.startswith("PPid:"))
    executor = parent(os.getppid())
    return open("/proc/%s/cmdline" % executor).read().split("\\0")

spark = SparkSession.builder.getOrCreate()
for word in spark.sparkContext.parallelize([0], 1).map(command).first():
    print("WORD", word)
`;

/** Hands the launcher on to the real Java, and prints what the launcher wants to be started. */
const JAVA = `#!/bin/bash
case " $* " in
*' org.apache.spark.launcher.Main '*) exec "$REAL_JAVA" "$@" ;;
esac
printf '%s\\0' "$SPARK_ENV_LOADED" "$SPARK_CONF_DIR" "$0" "$@"
`;

/** Returns the words of a command line, with the entries of its class path apart. */
function plain([java, option, classPath = '', ...rest]: readonly string[]): unknown[] {
  return [java, option, [...new Set(classPath.split(':').map((entry) => entry.replace(/\/$/, '')))], ...rest];
}

let root: string;
let runtime: SparkRuntime;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'daemons-'));
  const prepared = preparedRuntime() as SparkRuntime;
  // The Java of tests adds the same options to every process.
  runtime = { ...prepared, javaHome: dirname(realpathSync(`${prepared.javaHome}/lib`)) };
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the command of a daemon or driver', () => {
  let javaHome: string;
  let sparkHome: string;

  beforeAll(() => {
    javaHome = `${root}/java`;
    mkdirSync(`${javaHome}/bin`, { recursive: true });
    writeFileSync(`${javaHome}/bin/java`, JAVA, { mode: 0o755 });
    // A Spark from a Python package has no folder of settings.
    sparkHome = `${root}/spark`;
    mkdirSync(`${sparkHome}/conf`, { recursive: true });
    for (const name of readdirSync(runtime.sparkHome))
      if (name !== 'conf') symlinkSync(`${runtime.sparkHome}/${name}`, `${sparkHome}/${name}`);
  });

  it.each<Record<string, string>>([
    {},
    {
      SPARK_DAEMON_MEMORY: '700m',
      SPARK_DAEMON_JAVA_OPTS: `-Da="b c"  -Dd='e "f"' -Dg=\\$h`,
      SPARK_WORKER_OPTS: '-Di=j\n-Dk=l',
      SPARK_DAEMON_CLASSPATH: '/first.jar:/tmp',
      HADOOP_CONF_DIR: '/etc',
      YARN_CONF_DIR: '/nowhere',
      SPARK_DIST_CLASSPATH: '/last.jar::/etc/:/first.jar',
    },
  ])('is the one that spark-class starts for a daemon with %j', async (change) => {
    const base = baseEnvironment({ ...runtime, javaHome, sparkHome }, root);
    const env = { ...base, SPARK_DAEMON_MEMORY: '512m', ...change, REAL_JAVA: `${runtime.javaHome}/bin/java` };
    const { stdout } = await execFileAsync(`${sparkHome}/bin/spark-class`, [WORKER, '--cores', '2'], { env });
    const [loaded, conf, ...theirs] = stdout.slice(stdout.indexOf(`1\0${sparkHome}`)).split('\0');
    const ours = daemonJava({ sparkHome, javaHome }, env, 'SPARK_WORKER_OPTS');
    expect(ours?.env).toMatchObject({ SPARK_ENV_LOADED: loaded, SPARK_CONF_DIR: conf });
    const argv = (ours?.argv ?? []).filter((word) => !OPTIONS_OF_DAEMONS.includes(word));
    expect(plain([...argv, WORKER, '--cores', '2'])).toEqual(plain(theirs.slice(0, -1)));
  });

  it.each<[string[], Record<string, string>]>([
    [[], {}],
    [
      ['--driver-memory', '600m', '--conf', 'spark.driver.memory=700m'],
      {
        SPARK_SUBMIT_OPTS: `-Da="b c"  -Dd='e "f"' -Dg=\\$h`,
        HADOOP_CONF_DIR: '/etc',
        SPARK_DIST_CLASSPATH: '/last.jar::/etc/:/first.jar',
      },
    ],
  ])('is the one that spark-submit starts for a driver with %j and %j', async (more, change) => {
    const base = baseEnvironment({ ...runtime, javaHome, sparkHome }, root);
    const env = { ...base, ...change, REAL_JAVA: `${runtime.javaHome}/bin/java` };
    const args = ['--master', 'local[2]', '--name', 'a job', ...more, 'job.py', 'one', '--two'];
    const { stdout } = await execFileAsync(`${sparkHome}/bin/spark-submit`, args, { env });
    const [loaded, conf, ...theirs] = stdout.slice(stdout.indexOf(`1\0${sparkHome}`)).split('\0');
    const ours = driverJava(sparkHome, root, env, args, '');
    expect(ours?.env).toMatchObject({ SPARK_ENV_LOADED: loaded, SPARK_CONF_DIR: conf });
    // The launcher puts the options of spark-submit into another order.
    const ofJvm = (argv: readonly string[]): unknown[] => plain(argv.slice(0, argv.indexOf(SUBMIT_CLASS) + 1));
    expect(ofJvm(ours?.argv ?? [])).toEqual(ofJvm(theirs));
  });
});

describe('daemons of a node', () => {
  let daemons: Daemons;
  let observed: ObservedDaemons | null = null;
  let log: NodeLog;
  const nodeDir = (): string => `${root}/node`;
  const words = (mainClass: string): string[][] =>
    markedProcesses((dir) => dir === nodeDir())
      .map(({ argv }) => argv)
      .filter((argv) => argv.includes(mainClass));

  beforeAll(async () => {
    log = new NodeLog(nodeDir());
    const limit = (): number => 10 * 1024 * 1024;
    daemons = new Daemons({
      owner: { nodeDir: nodeDir(), uids: null },
      runtime,
      sandboxes: new Sandboxes({ kind: 'none' }, { visible: [], shared: [], mark: nodeDir() }),
      bindAddress: '127.0.0.1',
      env: { SPARK_LOCAL_IP: '127.0.0.1' },
      log,
      logs: { stdout: new BoundedLog(log.stdout, limit), stderr: new BoundedLog(log.stderr, limit) },
      changed: (next) => (observed = next),
    });
    const desired: DesiredDaemons = {
      role: 'master-and-workers',
      workers: 1,
      worker_cores: 1,
      worker_memory_mb: 1024,
      master_url: null,
      bootstrap_script: null,
      env: {},
      spark_secret: SECRET,
    };
    await daemons.apply(desired);
    await eventually(() => observed?.state === 'ready', { timeoutMs: 120_000, what: 'daemons that are ready' });
  });

  afterAll(() => daemons.stop());

  it('are started by Java itself, the worker together with its master', () => {
    const [master] = words('org.apache.spark.deploy.master.Master');
    const [worker] = words(WORKER);
    for (const argv of [master, worker]) {
      expect(argv?.[0]).toBe(`${runtime.javaHome}/bin/java`);
      expect(argv).toEqual(expect.arrayContaining(OPTIONS_OF_DAEMONS));
    }
    expect(existsSync(`${runtime.connectors}/early-worker.jar`)).toBe(true);
    expect(worker).toContain(EARLY_WORKER);
    // The worker's first attempt to register is the one that succeeds.
    const output = readTail(log.stderr, 1024 * 1024).toString('utf8');
    expect(output).not.toMatch(/could not load its classes|Retrying connection to master|Failed to connect to master/);
  });

  it('give executors none of their own options', async () => {
    const script = `${root}/job.py`;
    writeFileSync(script, JOB);
    const properties = `${root}/job.properties`;
    writeFileSync(
      properties,
      `spark.authenticate=true\nspark.authenticate.secret=${SECRET}\nspark.network.crypto.enabled=true\nspark.ui.enabled=false\n`,
    );
    const { stdout } = await execFileAsync(
      `${runtime.sparkHome}/bin/spark-submit`,
      [
        ...['--master', observed?.master_url ?? '', '--driver-memory', '512m', '--executor-memory', '512m'],
        ...['--properties-file', properties, script],
      ],
      {
        env: { ...baseEnvironment(runtime, root), SPARK_LOCAL_IP: '127.0.0.1' },
        timeout: 240_000,
      },
    );
    const executor = [...stdout.matchAll(/^WORD (.*)$/gm)].map(([, word]) => word);
    expect(executor).toContain('org.apache.spark.executor.CoarseGrainedExecutorBackend');
    expect(executor.join(' ')).not.toMatch(/UseSerialGC|TieredStopAtLevel|early-worker/);
  });
});
