import { ExampleReader, examples } from './harness/examples';

// Real: the built processes and Spark, a tenant with the quickstart's demo, curl, and both SDKs as they are built.
describe('the examples', () => {
  let reader: ExampleReader | undefined;

  beforeAll(async () => {
    reader = await ExampleReader.start('examples');
  });

  afterAll(() => reader?.close());

  it('there are some', () => expect(examples().usual.length).toBeGreaterThan(6));

  // The lint phase checks the types of their JavaScript.
  it('are Python that fits the SDK, those of test:long included', async () => {
    await reader?.checkPython();
  });

  it.each(examples().usual)('%s prints what its page says', (name) => reader?.run(name));
});
