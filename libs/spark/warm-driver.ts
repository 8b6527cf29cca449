import { INTERACTIVE_KINDS, type RunKind, type RunSpec } from '../contracts/agent-protocol';
import { DRIVER_MEMORY, READ_BY_LAUNCHER, SUBMIT_CLASS, withoutLauncher } from './driver-java';
import { WARM_PYTHONS, warmPython } from './driver-python';
import { LAST_CLASS_PATH } from './mounts';
import { isAmong, propertyKeys } from './properties-text';
import { bridgeFiles } from './run-bridges';
import { shellQuoted } from './shell-quoted';
import {
  addedClassPath,
  driverEnvironment,
  driverJavaOptions,
  propertyKey,
  type RunPaths,
  type SparkRuntime,
  type SubmitCommand,
  type SubmitSetup,
} from './submit-command';

/** The jar among the connectors with the class that a driver starts as if it is started before its run is known. */
const JAR = 'warm-driver.jar';
const WARM_CLASS = 'org.apache.spark.warm.WarmDriver';
const LAUNCHER_CLASS = 'org.apache.spark.launcher.Main';

/** Their code runs in the JVM, so the programs that it starts inherit the environment that the JVM was started with. */
const KINDS_IN_JVM: readonly RunKind[] = ['jar', 'raw-scala'];

/** Properties that the JVM or Spark read only once, when a driver starts. A trailing dot means all properties with the prefix. */
const READ_ONCE = [
  ...READ_BY_LAUNCHER,
  DRIVER_MEMORY,
  'spark.kerberos.',
  'spark.hadoop.hadoop.security.',
  'spark.network.',
  'spark.shuffle.io.',
  'spark.rpc.io.',
  'spark.sql.broadcastExchange.maxThreadThreshold',
  'spark.sql.codegen.cache.maxEntries',
  'spark.sql.subquery.maxThreadThreshold',
];

/** An option of the JVM that can be set later, and that the shell's syntax leaves as it is. */
const SYSTEM_PROPERTY = /^-D([\w.]+)=([^\s'"\\]*)$/;

/** Variables that the JVM, its launcher or Python read only once, when they start. */
const VARIABLES_READ_ONCE =
  /^(?:HADOOP_|JAVA_|JDK_|LANG$|LC_|LD_|MALLOC_|PYTHON|SPARK_|TZ$|YARN_|_JAVA_|HOME$|PATH$|TMPDIR$|USER$)/;

/** Settings of a run that a driver has to be started with, besides those of its node. */
export interface WarmKey {
  /** Heap of the driver, as `spark-submit` takes it; null for Spark's default. */
  driverMemory: string | null;
  /** Entries that follow Spark's own class path; null for none. */
  classPath: string | null;
}

/** Returns what the driver of a run has to be started with. */
export function warmKeyOf(spec: RunSpec, setup: Pick<SubmitSetup, 'runtime' | 'nodeEnv'>): WarmKey {
  const isSet = spec.driver_memory !== null && !spec.driver_memory_is_default;
  const property = isSet ? null : spec.conf.findLast((entry) => propertyKey(entry) === DRIVER_MEMORY);
  const driverMemory = property?.slice(property.indexOf('=') + 1).trim() ?? spec.driver_memory;
  return { driverMemory, classPath: addedClassPath(spec, setup) };
}

/** Returns true if a driver with one key serves runs of the other. */
export function isSameKey(one: WarmKey, other: WarmKey): boolean {
  return one.driverMemory === other.driverMemory && one.classPath === other.classPath;
}

/** Returns why a run needs a driver that is started for it, as far as the control plane's request shows; null if it does not. */
export function coldReason(spec: RunSpec): string | null {
  if (spec.kernel?.language === 'scala') return 'The kernel of Scala starts a JVM of its own.';
  if ([spec.driver_java_options, spec.driver_library_path, spec.driver_class_path].some((option) => option))
    return 'It sets options of the JVM of its driver.';
  if (spec.principal !== null || spec.keytab !== null || spec.keytab_file !== undefined)
    return 'Its driver logs in to Kerberos.';
  const names = Object.keys({ ...spec.env, ...spec.secrets?.env });
  const variable = names.find((name) => KINDS_IN_JVM.includes(spec.kind) || VARIABLES_READ_ONCE.test(name));
  return variable === undefined ? null : `It sets the variable ${variable}.`;
}

/** Returns why a run cannot be handed over to a running driver with its key; null if it can. */
export function handoverRefusal(spec: RunSpec, setup: SubmitSetup, { handover }: SubmitCommand): string | null {
  const reason = coldReason(spec);
  if (reason !== null) return reason;
  if (!handover?.javaOptions.every((option) => SYSTEM_PROPERTY.test(option)))
    return 'It has a file whose name only an option of the JVM can express.';
  // The key of the driver has the heap of the run's own properties, but not that of a file.
  const own = spec.conf.map(propertyKey).filter((key) => key !== DRIVER_MEMORY);
  const keys = [...setup.properties, setup.sparkDefaults].flatMap(propertyKeys).concat(own);
  // Programs that serve runs start without Spark, which therefore does not choose their Python.
  const isRefused = (key: string): boolean =>
    isAmong(key, READ_ONCE) || (INTERACTIVE_KINDS.includes(spec.kind) && key.startsWith('spark.pyspark.'));
  const key = keys.find(isRefused);
  return key === undefined ? null : `It sets the Spark property ${key}.`;
}

/** The agent's files of a warm driver, which its sandbox can read. */
export interface HandoverFiles {
  /** Named pipe that gets a byte once there is a run. */
  pipe: string;
  /** The description of the run. */
  assignment: string;
}

/** The command of a warm driver, and what the agent prepares for it. */
export interface WarmDriverCommand extends Omit<SubmitCommand, 'requestedMemoryMb'> {
  /** Named pipes through which Spark asks for the Python of the driver. */
  pipes: string[];
  /** File that exists once the driver waits for a run. */
  ready: string;
}

/**
 * Returns the command of a driver that waits for a run with this key. The command line of the JVM is made from the same settings as for
 * a run; only the class and the end of the class path are replaced.
 * @throws Error if the node lacks the jar
 */
export function warmDriverCommand(
  { driverMemory, classPath }: WarmKey,
  setup: { runtime: SparkRuntime; paths: RunPaths; nodeEnv: Record<string, string>; handover: HandoverFiles },
): WarmDriverCommand {
  const { runtime, paths, nodeEnv, handover } = setup;
  if (runtime.connectors === null) throw new Error('The node has no connectors, and so no class of warm drivers.');
  const jar = `${runtime.connectors}/${JAR}`;
  const javaHome = `${paths.generated}/warm-java`;
  const ready = `${paths.generated}/ready`;
  const bridges = bridgeFiles('rehearsal.py', paths.generated);
  const folder = `${paths.generated}/bridge`;
  const pipes = ['ask', 'answer'].map((name) => `${folder}/${name}`);
  const shims = WARM_PYTHONS.map((kind) => warmPython(paths, kind));
  const settings = {
    PIPE: handover.pipe,
    ASSIGNMENT: handover.assignment,
    READY: ready,
    EMPTIED: [paths.work, paths.events, paths.local, paths.tmp].join(':'),
    JAR: jar,
    PYTHON: runtime.python,
    ZYGOTE: `${folder}/python_zygote.py`,
  };
  const options = {
    'spark.ui.enabled': 'false',
    'spark.ui.showConsoleProgress': 'false',
    'spark.authenticate': 'true',
    'spark.eventLog.enabled': 'true',
    'spark.eventLog.dir': `file://${paths.events}`,
    'spark.sql.shuffle.partitions': '2',
    'spark.pyspark.driver.python': warmPython(paths),
  };
  const memory = driverMemory === null ? [] : ['--driver-memory', driverMemory];
  const args = [
    ...['--master', 'local[2]', '--name', 'rehearsal', ...memory],
    ...Object.entries(options).flatMap(([key, value]) => ['--conf', `${key}=${value}`]),
    bridges.program,
  ];
  const command: Omit<SubmitCommand, 'requestedMemoryMb'> = {
    argv: [`${runtime.sparkHome}/bin/spark-submit`, ...args],
    env: {
      ...driverEnvironment(runtime, paths),
      ...nodeEnv,
      ...(classPath === null ? {} : { [LAST_CLASS_PATH]: classPath }),
      SPARK_SUBMIT_OPTS: [...driverJavaOptions(runtime, paths), nodeEnv['SPARK_SUBMIT_OPTS'] ?? ''].join(' ').trim(),
      JAVA_HOME: javaHome,
      ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [`WARM_DRIVER_${name}`, value])),
    },
    stdin: '',
    files: [
      ...bridges.files,
      ...shims.map((path) => ({ path, content: shimText(folder), isProgram: true })),
      { path: `${javaHome}/bin/java`, content: javaText(runtime.javaHome, jar, folder), isProgram: true },
    ],
    notes: [],
    handover: { arguments: args, before: [], javaOptions: [], isShell: false },
  };
  return { ...withoutLauncher(command, runtime.sparkHome, paths.work, ''), pipes, ready };
}

/**
 * Returns the text with which a warm driver becomes a run; `WarmDriver.scala` says its form.
 * @throws Error for a run that is not a `spark-submit`
 */
export function assignmentText({ env, handover }: SubmitCommand): string {
  if (!handover) throw new Error('The command of the run is not a spark-submit');
  const properties = handover.javaOptions.map((option) => option.slice('-D'.length));
  const records = [
    ...Object.entries(env).map(([name, value]) => `E${name}=${value}`),
    ...properties.map((property) => `D${property}`),
    ...(handover.before.length > 0 ? [...handover.before, '/bin/true'] : []).map((word) => `B${word}`),
    ...(handover.isShell ? ['I'] : []),
    ...handover.arguments.map((word) => `A${word}`),
  ];
  return records.map((record) => `${record.replaceAll('\0', '')}\0`).join('');
}

/**
 * `spark-submit` calls it as `java`, once to make the command line and once to run it. It stays the parent of the JVM, whose end is not
 * that of a program which serves the run: a kernel can be restarted, and others say why they end. The channel of the run is not left open
 * in it, because the code of the run could open it here.
 */
function javaText(javaHome: string, jar: string, folder: string): string {
  return `#!/bin/sh
real=${shellQuoted(javaHome)}
for word do
  if [ "$word" = ${LAUNCHER_CLASS} ]; then exec "$real/bin/java" "$@"; fi
done
export JAVA_HOME="$real"
before=
for word do
  shift
  if [ "$before" = -cp ]; then word="$word:"${shellQuoted(jar)}; fi
  before="$word"
  if [ "$word" = ${SUBMIT_CLASS} ]; then word=${WARM_CLASS}; fi
  set -- "$@" "$word"
done
trap : TERM INT HUP
# A shell lets the processes that it does not wait for ignore these signals, and takes their input.
env --default-signal=INT,QUIT "$JAVA_HOME/bin/java" "$@" <&0 &
java=$!
exec 3<&- 4>&-
while :; do
  wait "$java"
  code=$?
  # A signal to this process ends the waiting, too.
  kill -0 "$java" 2>/dev/null || break
done
trap '' TERM INT HUP
cd ${shellQuoted(folder)} || exit "$code"
echo "$code" >jvm-code.new && mv jvm-code.new jvm-code
if [ -e serving ]; then read -r code <answer; elif [ -e served ]; then read -r code <served; fi
exit "$code"
`;
}

/** Stands for the driver's Python: a fork of the zygote does the work, and its exit status becomes that of this process. */
function shimText(folder: string): string {
  return `#!/bin/sh
echo $$ >${shellQuoted(`${folder}/ask`)}
read -r code <${shellQuoted(`${folder}/answer`)}
exit "$code"
`;
}
