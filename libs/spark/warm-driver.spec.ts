import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { plainRunSpec, plainSubmitSetup } from '../../test/harness/run-spec';
import type { RunSpec } from '../contracts/agent-protocol';
import { submitCommand, type SubmitSetup } from './submit-command';
import { assignmentText, coldReason, handoverRefusal, isSameKey, warmDriverCommand, warmKeyOf } from './warm-driver';

const application = { kind: 'fetched' as const, index: 0, name: 'main.py', uri: null };
const spec = (change: Partial<RunSpec> = {}): RunSpec => plainRunSpec({ application, ...change });
const plain = plainSubmitSetup();
const setup: SubmitSetup = {
  ...plain,
  runtime: { ...plain.runtime, connectors: '/connectors', javaHome: '/java home' },
};
const refusal = (change: Partial<RunSpec>, more: Partial<SubmitSetup> = {}): string | null => {
  const whole = { ...setup, ...more };
  return handoverRefusal(spec(change), whole, submitCommand(spec(change), whole));
};

describe('coldReason', () => {
  it('is null for runs that a running driver can become', () => {
    expect(coldReason(spec())).toBeNull();
    expect(coldReason(spec({ env: { MINE: '1' }, secrets: { env: { TOKEN: 'x' }, conf: {} } }))).toBeNull();
    expect(coldReason(spec({ kind: 'jar' }))).toBeNull();
  });

  it.each<[Partial<RunSpec>, string]>([
    [{ kind: 'notebook', kernel: { language: 'scala' } }, 'The kernel of Scala starts a JVM of its own.'],
    [{ driver_java_options: '-Xss4m' }, 'It sets options of the JVM of its driver.'],
    [{ driver_java_options: '', driver_class_path: '/jars/*' }, 'It sets options of the JVM of its driver.'],
    [{ driver_library_path: '/native' }, 'It sets options of the JVM of its driver.'],
    [{ principal: 'me@REALM' }, 'Its driver logs in to Kerberos.'],
    [{ env: { TZ: 'Asia/Tokyo' } }, 'It sets the variable TZ.'],
    [{ env: { PYTHONPATH: '/mine' } }, 'It sets the variable PYTHONPATH.'],
    [{ env: { LD_PRELOAD: '/mine.so' } }, 'It sets the variable LD_PRELOAD.'],
    [{ env: { SPARK_CONF_DIR: '/mine' } }, 'It sets the variable SPARK_CONF_DIR.'],
    [{ secrets: { env: { HADOOP_CONF_DIR: '/mine' }, conf: {} } }, 'It sets the variable HADOOP_CONF_DIR.'],
    // Programs that a JVM starts inherit what the JVM was started with.
    [{ kind: 'jar', env: { MINE: '1' } }, 'It sets the variable MINE.'],
  ])('says what the driver has to be started with: %j', (change, reason) => {
    expect(coldReason(spec(change))).toBe(reason);
  });
});

describe('handoverRefusal', () => {
  it('is null for a run without settings that are read once', () => {
    expect(refusal({ conf: ['spark.sql.shuffle.partitions=4'] }, { properties: ['spark.mine=1'] })).toBeNull();
    expect(refusal({ kind: 'raw-scala', code: 'println(1)', application: null })).toBeNull();
  });

  it.each([
    ...['spark.driver.extraJavaOptions', 'spark.driver.defaultExtraClassPath', 'spark.driver.memory'],
    ...['spark.network.timeout', 'spark.kerberos.keytab'],
  ])('names %s, wherever it is set', (key) => {
    const text = `It sets the Spark property ${key}.`;
    expect(refusal({ conf: [`${key}=x`] })).toBe(key === 'spark.driver.memory' ? null : text);
    expect(refusal({}, { properties: [`${key} x\n`] })).toBe(text);
    expect(refusal({}, { sparkDefaults: `${key}: x\n` })).toBe(text);
  });

  it('names the Python of a program that serves a run, which Spark does not choose', () => {
    const conf = ['spark.pyspark.python=/mine'];
    const change = { kind: 'notebook' as const, application: null, kernel: { language: 'python' as const }, conf };
    const command = submitCommand(spec(change), { ...setup, isWarm: true });
    expect(handoverRefusal(spec(change), setup, command)).toBe('It sets the Spark property spark.pyspark.python.');
    expect(refusal({ conf })).toBeNull();
  });

  it('refuses a key that could be another one', () => {
    expect(refusal({}, { properties: ['spark.driver.extraJavaOption\\u0073=-Dmine=1'] })).toMatch(
      /^It sets the Spark property /,
    );
  });
});

describe('the key of a warm driver', () => {
  it('is the heap and what follows the class path of Spark', () => {
    const small = warmKeyOf(spec({ driver_memory: '2g' }), setup);
    expect(small).toEqual({ driverMemory: '2g', classPath: null });
    const stores = warmKeyOf(spec({ driver_memory: '2g', metastore: { kind: 'hive', properties: {} } }), setup);
    expect(stores).toEqual({ driverMemory: '2g', classPath: '/connectors/*' });
    const conf = ['spark.driver.memory=3g'];
    expect(warmKeyOf(spec({ driver_memory: '2g', driver_memory_is_default: true, conf }), setup).driverMemory).toBe(
      '3g',
    );
    expect(warmKeyOf(spec({ driver_memory: '2g', conf }), setup).driverMemory).toBe('2g');
    expect(isSameKey(small, { ...small })).toBe(true);
    expect(isSameKey(small, stores)).toBe(false);
  });
});

describe('assignmentText', () => {
  it('has variables, system properties and arguments, each in one record', () => {
    const change = { kind: 'raw-scala' as const, code: 'println(1)', application: null, env: { MINE: 'a=b\nc' } };
    const records = assignmentText(submitCommand(spec(change), setup)).split('\0');
    expect(records).toContain('EMINE=a=b\nc');
    expect(records).toContain('Dscala.usejavacp=true');
    expect(records).toContain('I');
    expect(records.slice(-6)).toEqual([
      'A--class',
      'Aorg.apache.spark.repl.Main',
      'Aspark-shell',
      'A-i',
      expect.any(String),
      '',
    ]);
    expect(records).not.toContain('A/spark/bin/spark-submit');
  });

  it('makes a program that serves a run the Python of the driver', () => {
    const nodeEnv = { PYTHONPATH: '/of/the/node' };
    const change = { kind: 'notebook' as const, application: null, kernel: { language: 'python' as const } };
    const warm = { ...setup, nodeEnv, isWarm: true };
    const records = assignmentText(submitCommand(spec(change), warm)).split('\0');
    expect(records.slice(-5)).toEqual([
      'A--conf',
      'Aspark.pyspark.driver.python=/run/generated/driver-python-serving',
      'A/run/generated/bridge/kernel_bridge.py',
      'Apython',
      '',
    ]);
    // The workers of the JVM find what is installed for the run; the program adds that to its own path by itself.
    expect(records).toContain('EPYTHONPATH=/run/work/site-packages:/of/the/node');
    expect(records).toContain('EBRIDGE_PYTHONPATH=/of/the/node');
    // Later kernels start Spark by themselves.
    expect(records.find((record) => record.startsWith('EPYSPARK_SUBMIT_ARGS='))).toMatch(/ pyspark-shell$/);
  });

  it('lets the options of a SQL server win over those of its kind', () => {
    const change = { kind: 'thrift' as const, application: null, conf: ['spark.sql.catalogImplementation=in-memory'] };
    const { handover } = submitCommand(spec(change), { ...setup, isWarm: true });
    const settings = handover?.arguments.filter((word) => word.startsWith('spark.sql.catalogImplementation='));
    expect(settings).toEqual(['spark.sql.catalogImplementation=hive', 'spark.sql.catalogImplementation=in-memory']);
  });

  it('has a file whose name only a system property can express', () => {
    const files = [{ kind: 'fetched' as const, index: 1, name: 'a, b', uri: null }];
    const records = assignmentText(submitCommand(spec({ files }), setup)).split('\0');
    expect(records).toContain('Dspark.files=file:///run/staging/1/a%2C%20b');
  });

  it('cannot be forged by a character that ends a record', () => {
    const records = assignmentText(submitCommand(spec({ arguments: ['x\0A--conf'] }), setup)).split('\0');
    expect(records).toContain('AxA--conf');
    expect(records).not.toContain('A--conf=');
  });

  it('refuses a command that starts no driver by itself', () => {
    const notebook = submitCommand(
      spec({ kind: 'notebook', application: null, kernel: { language: 'python' } }),
      setup,
    );
    expect(() => assignmentText(notebook)).toThrow('The command of the run is not a spark-submit');
  });
});

describe('warmDriverCommand', () => {
  const handover = { pipe: '/node/handover', assignment: '/node/assignment' };

  it('needs the jar among the connectors', () => {
    const runtime = { ...setup.runtime, connectors: null };
    expect(() => warmDriverCommand({ driverMemory: null, classPath: null }, { ...setup, runtime, handover })).toThrow(
      'The node has no connectors',
    );
  });

  it('lets spark-submit make the command line, and then starts another class with one more jar', () => {
    const folder = mkdtempSync(join(tmpdir(), 'warm java-'));
    try {
      const runtime = { ...setup.runtime, javaHome: `${folder}/java` };
      const paths = { ...setup.paths, generated: folder };
      const { files, env } = warmDriverCommand(
        { driverMemory: '1g', classPath: '/connectors/*' },
        { ...setup, runtime, paths, handover },
      );
      const program = files.find(({ path }) => path === `${env['JAVA_HOME']}/bin/java`);
      for (const [path, content] of [
        [program?.path ?? '', program?.content ?? ''],
        [`${folder}/java/bin/java`, '#!/bin/sh\necho "JAVA_HOME=$JAVA_HOME"\nprintf "%s\\n" "$@"\n'],
      ] as const) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content, { mode: 0o700 });
      }
      const java = (...words: string[]): string[] => {
        const output = execFileSync(program?.path ?? '', words, { env: { ...process.env, ...env }, encoding: 'utf8' });
        return output.trimEnd().split('\n');
      };
      const launcher = ['-Xmx128m', '-cp', '/spark/jars/*', 'org.apache.spark.launcher.Main'];
      expect(java(...launcher, 'org.apache.spark.deploy.SparkSubmit', '--name', "it's")).toEqual([
        `JAVA_HOME=${env['JAVA_HOME']}`,
        ...launcher,
        'org.apache.spark.deploy.SparkSubmit',
        '--name',
        "it's",
      ]);
      expect(java('-cp', '/conf:/jars/*', '-Xmx1g', 'org.apache.spark.deploy.SparkSubmit', '--name', "it's")).toEqual([
        `JAVA_HOME=${folder}/java`,
        '-cp',
        '/conf:/jars/*:/connectors/warm-driver.jar',
        '-Xmx1g',
        'org.apache.spark.warm.WarmDriver',
        '--name',
        "it's",
      ]);
      const ended = (script: string): number | null => {
        writeFileSync(`${folder}/java/bin/java`, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
        const options = { env: { ...process.env, ...env }, timeout: 20_000 };
        return spawnSync(program?.path ?? '', ['org.apache.spark.deploy.SparkSubmit'], options).status;
      };
      mkdirSync(`${folder}/bridge`);
      expect(ended('exit 7')).toBe(7);
      expect(ended('kill -KILL $$')).toBe(137);
      // A program that serves the run has ended before the JVM, or ends after it.
      writeFileSync(`${folder}/bridge/served`, '5\n');
      expect(ended('exit 143')).toBe(5);
      execFileSync('mkfifo', [`${folder}/bridge/answer`]);
      const serving = `${folder}/bridge/serving`;
      writeFileSync(serving, '');
      expect(ended(`(sleep 0.2; echo 6 >'${folder}/bridge/answer') & exit 143`)).toBe(6);
      expect(readFileSync(`${folder}/bridge/jvm-code`, 'utf8')).toBe('143\n');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
