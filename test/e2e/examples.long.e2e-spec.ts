import { ExampleReader, examples } from './harness/examples';

const DAGSTER = process.env['TEST_DAGSTER_PYTHON'] ?? '';
const BUCKET = 'example';

// Real: the built processes and Spark, a tenant with the quickstart's demo, Dagster, and the Python SDK. Fake: the bucket, which moto
// serves.
describe('the examples that take longer', () => {
  let reader: ExampleReader | undefined;
  let variables: Record<string, string>;

  beforeAll(async () => {
    reader = await ExampleReader.start('examples-long');
    const S3_URL = await prepareBucket();
    variables = { S3_URL, BUCKET, KEY_ID: 'any', SECRET: 'any' };
  });

  afterAll(() => reader?.close());

  it.each(examples().dear)('%s prints what its page says', (name) =>
    reader?.run(name, name === '13-dagster' ? { ...variables, PYTHON: DAGSTER } : variables),
  );
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
