import { isLong } from '../../harness/long';
import { concernsBothTenants, LOGIN_NAME, PASSWORD } from './callers';
import type { Cell } from './cells';
import { AccessMatrix, firstFailure } from './matrix';
import { readSecondLines } from './mutations';
import { type BuiltRequest, unknownIds } from './requests';
import { sentSites, unwatchStatements, watchStatements, without } from './tenant-sites';

jest.mock('../../../src/platform/kernel/persistence/tenant-condition', () => {
  return jest.requireActual<typeof import('./tenant-sites')>('./tenant-sites').markedConditions;
});

const MINUTES = 60_000;
/** HTTP Basic credentials, with which a login needs no body. */
const BASIC = `Basic ${Buffer.from(`${LOGIN_NAME}:${PASSWORD}`).toString('base64')}`;

/** The number of operations called per removed condition; further ones would show nothing new. */
const OPERATIONS_PER_SITE = isLong ? 12 : 4;

/**
 * Calls every operation of the OpenAPI document as every kind of caller and compares the responses with
 * expected-access.yaml. Then disables each condition made by `ofTenant` or `inTenant`, one at a time: a cell must fail.
 * Both are in one file because the first calls record which operations send which condition.
 * Real: the whole API, PostgreSQL, Redis. Left out: the worker, and the node agents' own API.
 */
describe('access', () => {
  let matrix: AccessMatrix;

  beforeAll(async () => {
    watchStatements();
    matrix = await AccessMatrix.start();
  }, 2 * MINUTES);

  afterAll(async () => {
    await matrix?.stop();
    unwatchStatements();
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
    'matches the expectation in every cell',
    async () => {
      const started = Date.now();
      const failures = await matrix.runAll();
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`Access matrix: ${matrix.cellCount} cells over ${matrix.operations.length} operations, ${seconds} s`);
      expect(failures).toEqual([]);
    },
    20 * MINUTES,
  );

  it(
    'fails if any condition on a tenant is disabled, except for second lines of defence',
    async () => {
      const sites = sentSites();
      const secondLines = readSecondLines();
      const isListed = (key: string) => secondLines.some(({ pattern }) => pattern.test(key));
      const unnoticed: string[] = [];
      const needed: string[] = [];
      for (const site of sites) {
        const operations = [...site.operations].slice(0, OPERATIONS_PER_SITE);
        const only = ({ caller }: Cell) => concernsBothTenants(caller);
        const failure = await without(site, () => firstFailure(matrix, operations, { only }));
        if (failure === null && !isListed(site.key)) unnoticed.push(`${site.key} (${operations.join(', ')})`);
        if (failure !== null && isListed(site.key)) needed.push(`${site.key}: ${failure.cell}`);
      }
      const gone = secondLines.filter(({ pattern }) => !sites.some(({ key }) => pattern.test(key)));
      console.log(`Access mutations: conditions on tenants of ${sites.length} sites made void`);
      expect({ unnoticed, needed, gone: gone.map(({ text }) => text) }).toEqual({
        unnoticed: [],
        needed: [],
        gone: [],
      });
    },
    20 * MINUTES,
  );

  it('refuses a request without a body if the document requires one, and no other request', async () => {
    const taking = matrix.operations.filter(({ body }) => body.kind === 'json');
    expect(taking.length).toBeGreaterThan(30);
    const wrong: string[] = [];
    for (const operation of taking) {
      const headers: Record<string, string> = operation.id === 'login' ? { authorization: BASIC } : {};
      const bare = (request: BuiltRequest) => ({ ...request, headers, body: undefined });
      const { status, text } = await matrix.answerTo(operation, bare);
      if (operation.bodyIsRequired ? status !== 400 : status >= 300) wrong.push(`${operation.id} ${status} ${text}`);
    }
    expect(wrong).toEqual([]);
    const optional = taking.filter(({ bodyIsRequired }) => !bodyIsRequired).map(({ id }) => id);
    expect(optional.sort()).toEqual(['createToken', 'login']);
  });

  it('refuses an empty value of every parameter with listed values', async () => {
    const wrong: string[] = [];
    let asked = 0;
    for (const operation of matrix.operations) {
      const listed = operation.parameters.filter(({ in: place, schema }) => {
        return place === 'query' && (schema.enum ?? schema.items?.enum) !== undefined;
      });
      for (const { name } of listed) {
        asked += 1;
        const { status, text } = await matrix.answerTo(operation, (request) => {
          return { ...request, path: `${request.path}${request.path.includes('?') ? '&' : '?'}${name}=` };
        });
        if (status !== 400 || !text.includes(name)) wrong.push(`${operation.id} ${name} ${status} ${text}`);
      }
    }
    expect(asked).toBeGreaterThan(30);
    expect(wrong).toEqual([]);
  });
});
