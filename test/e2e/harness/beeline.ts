import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { TestRuntime, TestSpark } from './platform';

const run = promisify(execFile);

export interface BeelineOptions {
  runtime: Pick<TestRuntime, 'javaHome'> & Pick<TestSpark, 'sparkHome'>;
  baseUrl: string;
  /** Path of the job's SQL server, without a slash in front. */
  path: string;
  user: string;
  token: string;
}

/** Runs statements in the Beeline of a Spark; returns its output. */
export async function beeline(options: BeelineOptions, ...statements: string[]): Promise<string> {
  const { runtime, baseUrl, path, user, token } = options;
  const { hostname, port } = new URL(baseUrl);
  const url = `jdbc:hive2://${hostname}:${port}/;transportMode=http;httpPath=${path}`;
  const words = statements.flatMap((statement) => ['-e', statement]);
  const form = ['--silent=true', '--outputformat=csv2', '--showHeader=false', '-u', url, '-n', user];
  const program = run(
    `${runtime.javaHome}/bin/java`,
    ['-cp', `${runtime.sparkHome}/jars/*`, 'org.apache.hive.beeline.BeeLine', ...form, '-p', token, ...words],
    { timeout: 180_000, maxBuffer: 64 * 1024 * 1024 },
  );
  // Beeline waits for commands if its input stays open.
  program.child.stdin?.end();
  const { stdout } = await program;
  return stdout;
}
