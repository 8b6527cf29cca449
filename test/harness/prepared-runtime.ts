import { readFileSync } from 'node:fs';

/** The Java, Spark and Python installations of the tests. */
export function preparedRuntime(): { javaHome: string; sparkHome: string; python: string } {
  const file = process.env['TEST_RUNTIME_JSON'];
  if (!file) throw new Error('TEST_RUNTIME_JSON is not set: jest.config.cjs prepares it');
  return JSON.parse(readFileSync(file, 'utf8')) as { javaHome: string; sparkHome: string; python: string };
}
