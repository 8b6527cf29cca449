import { readFileSync } from 'node:fs';
import type { SparkRuntime } from '../../libs/spark/submit-command';

/** The Java, Spark and Python installations of the tests; `bubblewrap` is the path of `bwrap`, null if there is none. */
export function preparedRuntime(): SparkRuntime & { bubblewrap: string | null } {
  const file = process.env['TEST_RUNTIME_JSON'];
  if (!file) throw new Error('TEST_RUNTIME_JSON is not set: jest.config.cjs prepares it');
  return JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof preparedRuntime>;
}
