import { mostTellingLine } from './daemon-end';

describe('mostTellingLine', () => {
  it.each([
    [
      'an exception with its cause',
      `26/11/27 07:00:01 INFO Master: Starting Spark master
Exception in thread "main" org.apache.spark.SparkException: Failed to bind
\tat org.apache.spark.rpc.RpcEnv.create(RpcEnv.scala:1)
Caused by: java.net.BindException: Address already in use
\t... 12 more
26/11/27 07:00:02 INFO Worker: Successfully registered with master`,
      'BindException: Address already in use',
    ],
    [
      'Java that does not start',
      'Error: Could not find or load main class x.Y\nCaused by nothing',
      'Error: Could not find or load main class x.Y',
    ],
    [
      'a log line',
      '26/11/27 07:00:01 ERROR Worker: All masters are unresponsive!\nbye',
      'Worker: All masters are unresponsive!',
    ],
    ['anything else', 'first\n  Killed  \n\n', 'Killed'],
    ['nothing', '\n \n', null],
  ])('finds that of %s', (_what, output, line) => {
    expect(mostTellingLine(output)).toBe(line);
  });

  it('shortens a long line', () => {
    expect(mostTellingLine('x'.repeat(5_000))).toHaveLength(301);
  });
});
