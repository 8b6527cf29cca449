import { freePort } from '../../scripts/embedded/ports.mjs';
import { ExampleReader, examples } from './harness/examples';
import { relayMavenCentral } from './harness/maven-repository';

const DAGSTER = process.env['TEST_DAGSTER_PYTHON'] ?? '';
const BUCKET = 'example';
/** Examples whose jobs load packages. */
const NEED_PACKAGES = new Set(['07-tables']);

// Real: the built processes and Spark, a tenant with the quickstart's demo, Dagster, the Python SDK, the Hive metastore that an
// example starts, and its packages from Maven Central. Fake: the bucket, which moto serves.
describe('the examples that take longer', () => {
  let reader: ExampleReader;
  let variables: Record<string, string>;

  beforeAll(async () => {
    reader = await ExampleReader.start('examples-long');
    const S3_URL = await prepareBucket();
    const METASTORE_PORT = String(await freePort());
    variables = { S3_URL, BUCKET, KEY_ID: 'any', SECRET: 'any', METASTORE_PORT };
  });

  afterAll(() => reader?.close());

  it.each(examples().dear)('%s prints what its page says', async (name) => {
    const central = NEED_PACKAGES.has(name) ? await relayMavenCentral(reader.mavenPort) : undefined;
    try {
      await reader.run(name, name === '13-dagster' ? { ...variables, PYTHON: DAGSTER } : variables);
    } finally {
      await central?.stop();
    }
  });
});

/** Makes the bucket with the file of the example, and returns the address of its store. */
async function prepareBucket(): Promise<string> {
  const store = process.env['TEST_EC2_URL'] ?? '';
  for (const [path, body] of [
    [BUCKET, undefined],
    [`${BUCKET}/example/words.txt`, 'one\ntwo\nthree\n'],
  ] as const) {
    const { ok, status } = await fetch(`${store}/${path}`, { method: 'PUT', body });
    if (!ok) throw new Error(`The store answered ${status} to PUT ${path}`);
  }
  return store;
}
