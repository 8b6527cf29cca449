import type { RunSpec } from '../../libs/contracts/agent-protocol';

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
