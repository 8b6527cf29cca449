import { isOnCommandLine } from './owned-properties';
import { isOwnedVariable } from './owned-variables';

describe('names that no secret can have', () => {
  it('include variables that programs are started with', () => {
    const names = [
      'PATH',
      'LD_PRELOAD',
      'SPARK_SUBMIT_OPTS',
      'JAVA_TOOL_OPTIONS',
      'PYTHONPATH',
      'PATHS',
      'API_KEY',
      'path',
    ];
    expect(names.filter(isOwnedVariable)).toEqual(names.slice(0, 5));
  });

  it('include properties on a command line', () => {
    const names = [
      ...[
        'spark.driver.memory',
        'spark.executor.extraJavaOptions',
        'spark.driver.defaultJavaOptions',
        'spark.rpc.askTimeout',
      ],
      ...['spark.blockManager.port', 'spark.hadoop.fs.s3a.secret.key', 'spark.driver.cores', 'spark.sql.port.x'],
    ];
    expect(names.filter(isOnCommandLine)).toEqual(names.slice(0, 5));
  });
});
