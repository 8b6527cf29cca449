import type { RunSpec } from '../../libs/contracts/agent-protocol';
import type { SubmitSetup } from '../../libs/spark/submit-command';

/** Returns a Python run with default settings and the given changes. */
export function plainRunSpec(change: Partial<RunSpec>): RunSpec {
  return {
    kind: 'python',
    name: 'a job',
    application: null,
    code: null,
    class_name: null,
    arguments: [],
    master: 'local[2]',
    conf: [],
    files: [],
    jars: [],
    py_files: [],
    archives: [],
    properties_files: [],
    packages: [],
    repositories: [],
    mounts: [],
    driver_memory: null,
    driver_cores: null,
    driver_java_options: null,
    driver_library_path: null,
    driver_class_path: null,
    executor_memory: null,
    executor_cores: null,
    total_executor_cores: null,
    num_executors: null,
    principal: null,
    keytab: null,
    queue: null,
    env: {},
    timeout_ms: null,
    kill_grace_ms: 1000,
    ...change,
  };
}

/** Returns a node's side of a run in made-up folders, without connectors and accelerators. */
export function plainSubmitSetup(): SubmitSetup {
  return {
    runtime: {
      sparkVersion: '3.5.9',
      sparkHome: '/spark',
      javaHome: '/java',
      python: '/venv/bin/python',
      classArchive: null,
      connectors: null,
      scalaKernel: null,
      accelerators: { turbo: null, cuda: null },
    },
    paths: {
      work: '/run/work',
      home: '/run/home',
      events: '/run/events',
      local: '/run/local',
      tmp: '/run/tmp',
      generated: '/run/generated',
      stdoutBegin: '/run/stdout.begin',
    },
    nodeEnv: {},
    properties: [],
    locate: (file) => file.uri ?? `/run/staging/${file.index}/${file.name}`,
    sparkDefaults: '',
    sparkSecret: null,
  };
}
