import { AccessMatrix } from './matrix';
import { unknownIds } from './requests';

const MINUTES = 60_000;

/**
 * Every operation of the OpenAPI document, called by everybody, is answered as expected-access.yaml says.
 * Real: the whole API, PostgreSQL, Redis. Left out: the worker, and the node agents' own API.
 */
describe('access', () => {
  let matrix: AccessMatrix;

  beforeAll(async () => {
    matrix = await AccessMatrix.start();
  }, 2 * MINUTES);

  afterAll(async () => {
    await matrix?.stop();
  });

  it('has an expectation for every operation', () => {
    expect(matrix.unexpected()).toEqual([]);
  });

  it('knows what every id in a request names', () => {
    const unknown = matrix.operations.flatMap((operation) =>
      unknownIds(operation).map((name) => `${name} of ${operation.id}`),
    );
    expect(unknown).toEqual([]);
  });

  it(
    'is as expected in every cell',
    async () => {
      const started = Date.now();
      const failures = await matrix.runAll();
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`Access matrix: ${matrix.cellCount} cells over ${matrix.operations.length} operations, ${seconds} s`);
      expect(failures).toEqual([]);
    },
    10 * MINUTES,
  );
});
