import type { RequestListener } from 'node:http';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { FakeUnity, type FakeUnityOptions, fakeUnityTable } from '../../../test/fakes/metastores/fake-unity';
import { answering, HOSTILE_SERVERS } from '../../../test/fakes/http/hostile-http';
import { FAULTS_OF_HOSTILE_SERVERS } from '../../../test/fakes/metastores/hostile-metastores';
import { serveOnLoopback } from '../../../test/fakes/http/loopback-server';
import { MetastoreError, type MetastoreFault } from '../metastore-client';
import { CONTRACT_TABLES, describeMetastoreClientContract, faultOf } from '../metastore-client.contract';
import { UnityClient } from './unity-client';

const TOKEN = 'dapi-secret-0123456789';
const SCHEMA = { catalog: 'main', schema: 'sales' };
const NEVER = new AbortController().signal;
/** A busy machine needs some of it; only what is to time out gets less. */
const LONG = { callMs: 60_000, requestMs: 30_000 };
const SHORT = { callMs: 1500, requestMs: 1000 };

const outbound = new OutboundPolicy({ schemes: ['http'], allowedClasses: ['loopback'] });

const NUMBERS = Array.from({ length: 250 }, (_, index) => `t${String(index).padStart(3, '0')}`);

function catalogs(): FakeUnityOptions['catalogs'] {
  const sales = {
    tables: NUMBERS.toReversed().map((name) => fakeUnityTable(name, 3)),
    functions: [
      {
        name: 'twice',
        data_type: 'INT',
        full_data_type: 'int',
        routine_body: 'SQL',
        routine_definition: 'x * 2',
        parameter_style: 'S',
        is_deterministic: true,
        sql_data_access: 'CONTAINS_SQL',
        is_null_call: false,
        security_type: 'DEFINER',
        specific_name: 'twice',
        properties: null,
        owner: null,
        created_at: 5,
        function_id: 'f-1',
      },
    ],
    volumes: [{ name: 'files', volume_type: 'EXTERNAL', storage_location: 's3://bucket/files', volume_id: 'v-1' }],
  };
  const record = { comment: 'Sold', owner: 'ada', created_at: 1, created_by: 'ada', updated_at: 2, updated_by: 'bob' };
  return {
    main: { record: { comment: null, storage_root: 's3://root' }, schemas: { sales: { record, ...sales }, empty: {} } },
    'a b': { schemas: {} },
  };
}

describeMetastoreClientContract('The client of Unity Catalog', async () => {
  const column = (name: string, position: number) => ({ name, type_text: 'int', position, partition_index: null });
  const columns = [column('name', 1), { ...column('day', 2), partition_index: 0 }, column('id', 0)];
  const tables = CONTRACT_TABLES.map((name) => ({ ...fakeUnityTable(name), columns }));
  const unity = await FakeUnity.start({ catalogs: { main: { schemas: { filled: { tables }, empty: {} } } } });
  const open = (endpoint: string, ms: number) =>
    new UnityClient({ endpoint, token: TOKEN }, outbound, { callMs: ms, requestMs: ms });
  const client = open(unity.url, 30_000);
  return {
    client,
    filled: { catalog: 'main', schema: 'filled' },
    empty: { catalog: 'main', schema: 'empty' },
    missing: { catalog: 'main', schema: 'missing' },
    at: (port, deadlineMs) => open(`http://127.0.0.1:${port}`, deadlineMs),
    close: async () => {
      client.close();
      await unity.stop();
    },
  };
});

describe('UnityClient', () => {
  const clients: UnityClient[] = [];
  let unity: FakeUnity;

  const open = (endpoint: string, token = TOKEN, timeouts = LONG) => {
    const client = new UnityClient({ endpoint, token }, outbound, timeouts);
    clients.push(client);
    return client;
  };
  const start = async (options: Partial<FakeUnityOptions> = {}, timeouts = LONG) => {
    unity = await FakeUnity.start({ catalogs: catalogs(), token: TOKEN, ...options });
    return open(unity.url, TOKEN, timeouts);
  };
  /** A server that answers every request alike. */
  const against = async (listener: RequestListener, timeouts = LONG) => {
    const client = await start({}, timeouts);
    unity.answerWith(listener);
    return client;
  };
  const names = (entries: { name: string }[]) => entries.map(({ name }) => name);

  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await unity.stop();
  });

  describe('reads', () => {
    it('catalogs and schemas', async () => {
      const client = await start();
      const unknown = { owner: null, createdAt: null, createdBy: null, updatedAt: null, updatedBy: null };
      expect(await client.listCatalogs(NEVER)).toEqual([
        { name: 'a b', comment: null, storageRoot: null, storageLocation: null, ...unknown },
        { name: 'main', comment: null, storageRoot: 's3://root', storageLocation: null, ...unknown },
      ]);
      expect(await client.listSchemas('main', NEVER)).toEqual([
        { name: 'empty', catalog: 'main', comment: null, ...unknown },
        {
          name: 'sales',
          catalog: 'main',
          comment: 'Sold',
          owner: 'ada',
          createdAt: 1,
          createdBy: 'ada',
          updatedAt: 2,
          updatedBy: 'bob',
        },
      ]);
      expect(await client.listSchemas('a b', NEVER)).toEqual([]);
    });

    it('tables of all pages, sorted whatever their order, with owners and times', async () => {
      const client = await start();
      const tables = await client.listTables(SCHEMA, NEVER);
      expect(names(tables)).toEqual(NUMBERS);
      expect(tables[0]).toEqual({
        ...SCHEMA,
        name: 't000',
        tableType: 'MANAGED',
        owner: 'ada@example.org',
        createdAt: 1_700_000_000_000,
        createdBy: 'ada@example.org',
        updatedAt: 1_700_000_060_000,
        updatedBy: 'bob@example.org',
      });
      expect(unity.calls).toHaveLength(3);
      expect(await client.listTables({ catalog: 'main', schema: 'empty' }, NEVER)).toEqual([]);
    });

    it('on after an empty page, and stops after a full last page', async () => {
      const client = await start({ pageLength: 50, hidden: new Set(NUMBERS.slice(100, 200)) });
      expect(await client.listTables(SCHEMA, NEVER)).toHaveLength(150);
      expect(unity.calls).toHaveLength(6);
    });

    it('the requested tables, without those that do not exist', async () => {
      const client = await start();
      const described = await client.describeTables(SCHEMA, ['t007', 'gone', 't.7', 't003', 't007'], NEVER);
      expect(names(described)).toEqual(['t003', 't007']);
      expect(described[0]).toMatchObject({ tableType: 'MANAGED', owner: 'ada@example.org' });
    });

    it('columns with the JSON of their types, NOT NULL, and decimals without a text', async () => {
      const all = catalogs();
      const json = '{"name":"id","type":"long","nullable":false,"metadata":{}}';
      const columns = [
        { name: 'id', type_text: 'bigint', type_json: json, nullable: false, position: 0 },
        { name: 'price', type_text: '', type_name: 'DECIMAL', type_precision: 12, type_scale: 3, position: 1 },
      ];
      all['main']!.schemas['sales']!.tables = [{ ...fakeUnityTable('Orders'), columns }];
      const client = await start({ catalogs: all });
      expect((await client.readTable({ ...SCHEMA, table: 'Orders' }, NEVER))?.columns).toMatchObject([
        { name: 'id', json, nullable: false },
        { name: 'price', type: 'decimal(12,3)', nullable: true },
      ]);
    });

    it.each<[string, object, object | null]>([
      [
        'Amazon',
        {
          aws_temp_credentials: { access_key_id: 'ASIA', secret_access_key: 'hush', session_token: 'whole' },
          url: 's3://warehouse/Orders',
        },
        {
          provider: 'aws',
          keys: { AWS_ACCESS_KEY_ID: 'ASIA', AWS_SECRET_ACCESS_KEY: 'hush', AWS_SESSION_TOKEN: 'whole' },
          url: 's3://warehouse/Orders',
        },
      ],
      [
        'Azure',
        { azure_user_delegation_sas: { sas_token: 'sv=1&sig=x' } },
        { provider: 'azure', keys: { SAS_TOKEN: 'sv=1&sig=x' }, url: null },
      ],
      [
        'Google',
        { gcp_oauth_token: { oauth_token: 'ya29' } },
        { provider: 'gcp', keys: { OAUTH_TOKEN: 'ya29' }, url: null },
      ],
      ['no store, as of a local directory', {}, null],
    ])('the credentials of %s that Unity vends for a table', async (_store, given, expected) => {
      const all = catalogs();
      all['main']!.schemas['sales']!.tables = [{ ...fakeUnityTable('Orders'), table_id: 'id-1' }];
      const client = await start({ catalogs: all, vended: { 'id-1': given } });
      const table = (await client.readTable({ ...SCHEMA, table: 'Orders' }, NEVER))!;
      expect(await client.vendCredentials(table, NEVER)).toEqual(expected);
      await expect(client.vendCredentials({ ...table, id: 'other' }, NEVER)).rejects.toMatchObject({ fault: 'denied' });
      expect(await client.vendCredentials({ ...table, id: null }, NEVER)).toBeNull();
    });

    it('no malformed credentials, and does not quote them', async () => {
      const client = await start({ vended: {} });
      const table = (await client.readTable({ ...SCHEMA, table: 't000' }, NEVER))!;
      unity.answerWith(answering(200, '{"aws_temp_credentials":{"access_key_id":"ASIA","secret_access_key":"hush"'));
      const { fault, message } = await faultOf(client.vendCredentials({ ...table, id: 'id-1' }, NEVER));
      expect([fault, message]).toEqual([
        'failed',
        expect.stringMatching(/does not answer like Unity Catalog \(HTTP 200\)\.$/),
      ]);
    });

    it('a table with its columns in order, without its partition columns', async () => {
      const all = catalogs();
      const column = (name: string, position: number, partition_index: number | null) => {
        return { name, type_text: `${name}_type`, type_name: 'INT', position, partition_index, comment: `of ${name}` };
      };
      const orders = {
        ...fakeUnityTable('Orders'),
        comment: 'All of them',
        columns: [column('day', 3, 1), column('b', 1, null), column('country', 2, 0), column('a', 0, null)],
      };
      const view = { ...fakeUnityTable('seen', 0), table_type: 'VIEW', view_definition: 'SELECT 1', columns: null };
      all['main']!.schemas['sales']!.tables = [orders, { ...view, storage_location: null, properties: null }];
      const client = await start({ catalogs: all });
      const info = (name: string, position: number) => {
        return { name, type: `${name}_type`, comment: `of ${name}`, json: null, nullable: true, position };
      };
      expect(await client.readTable({ ...SCHEMA, table: 'Orders' }, NEVER)).toEqual({
        ...SCHEMA,
        name: 'Orders',
        tableType: 'MANAGED',
        owner: 'ada@example.org',
        createdAt: 1_700_000_000_000,
        createdBy: 'ada@example.org',
        updatedAt: 1_700_000_060_000,
        updatedBy: 'bob@example.org',
        comment: 'All of them',
        columns: [info('a', 0), info('b', 1)],
        partitionColumns: [info('country', 2), info('day', 3)],
        id: '7c1f7b0e-0000-4000-8000-000000000000',
        location: 's3://warehouse/Orders',
        dataSourceFormat: 'DELTA',
        inputFormat: null,
        outputFormat: null,
        serde: null,
        serdeProperties: {},
        bucketColumns: [],
        sortColumns: [],
        buckets: 0,
        properties: { 'delta.lastCommitTimestamp': '1700000000000' },
        viewText: null,
      });
      expect(await client.readTable({ ...SCHEMA, table: 'seen' }, NEVER)).toMatchObject({
        tableType: 'VIEW',
        viewText: 'SELECT 1',
        columns: [],
        location: null,
        properties: {},
      });
      expect(await client.readTable({ ...SCHEMA, table: 'none' }, NEVER)).toBeNull();
    });

    it('functions and volumes', async () => {
      const client = await start();
      expect(await client.listFunctions(SCHEMA, NEVER)).toEqual([
        expect.objectContaining({ ...SCHEMA, name: 'twice', routineDefinition: 'x * 2', isDeterministic: true }),
      ]);
      expect(await client.listVolumes(SCHEMA, NEVER)).toEqual([
        expect.objectContaining({ ...SCHEMA, name: 'files', volumeType: 'EXTERNAL', volumeId: 'v-1' }),
      ]);
    });

    it.each(['%', '100%zz', 'a/b', 'a?b=c#d', 'ü ñ 表', '`q\'uo"te`', '..', '%2e%2e', 'a&catalog_name=b'])(
      'the table and the schema %p by that very name',
      async (name) => readsByName(name),
    );

    it('the table and the schema with a name of maximum length', () => readsByName('x'.repeat(255)));

    const readsByName = async (name: string) => {
      const isPath = !name.includes('.');
      const all = { main: { schemas: { [name]: { tables: [fakeUnityTable(name, 1)] } } } };
      const client = await start({ catalogs: all });
      const schema = { catalog: 'main', schema: name };
      expect(names(await client.listTables(schema, NEVER))).toEqual([name]);
      const read = client.readTable({ ...schema, table: name }, NEVER);
      if (isPath) expect(await read).toMatchObject({ name });
      else expect((await faultOf(read)).fault).toBe('unsupported');
    };

    it.each([
      ['that is empty', '', 'missing'],
      ['of half a character', '\ud800', 'missing'],
      ['that is too long', 'x'.repeat(256), 'missing'],
      ['with a dot', 'a.b', 'unsupported'],
    ] as const)('nothing for a name %s, and calls nobody', async (_case, table, fault) => {
      const client = await start();
      expect((await faultOf(client.readTable({ ...SCHEMA, table }, NEVER))).fault).toBe(fault);
      expect(unity.calls).toEqual([]);
    });

    it('no schemas without a catalog', async () => {
      const client = await start();
      expect((await faultOf(client.listSchemas(null, NEVER))).fault).toBe('missing');
      expect((await faultOf(client.listSchemas('gone', NEVER))).fault).toBe('missing');
    });
  });

  describe('its endpoint', () => {
    it.each(['', '/', '/api/2.1/unity-catalog', '/api/2.1/unity-catalog//', '/?o=7#x'])(
      'may end in %p',
      async (end) => {
        await start();
        expect(await open(unity.url + end).listCatalogs(NEVER)).toHaveLength(2);
      },
    );

    it.each(['no url', 'ftp://host', 'http://10.0.0.1', 'http://user:word@127.0.0.1', 'http://127.0.0.1/%zz'])(
      'cannot be %p',
      (endpoint) => {
        expect(() => open(endpoint)).toThrow(MetastoreError);
      },
    );

    it('is refused if its name resolves to a refused address', async () => {
      await start();
      const resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
      const strict = new OutboundPolicy({ schemes: ['http'], allowedClasses: ['private'] }, resolve);
      const client = new UnityClient({ endpoint: 'http://unity.example', token: TOKEN }, strict, LONG);
      const error = await faultOf(client.listCatalogs(NEVER));
      expect([error.fault, error.message]).toEqual(['unreachable', expect.stringContaining('are refused')]);
    });

    it.each([
      ['is empty', ''],
      ['adds a header', 'a\r\nX-Injected: 1'],
      ['cannot be sent', 'ü'],
      ['is too long', 'x'.repeat(9000)],
    ])('is not sent a token that %s', (_case, token) => {
      expect(() => open('http://127.0.0.1:1', token)).toThrow(MetastoreError);
    });
  });

  describe('reports', () => {
    it.each<[number, unknown, MetastoreFault]>([
      [401, { error_code: 401, message: 'Credential was not sent.' }, 'denied'],
      [403, { error_code: 'PERMISSION_DENIED', message: 'No.', details: [] }, 'denied'],
      [403, { error_code: 'SCHEMA_NOT_FOUND', message: 'No.' }, 'denied'],
      [400, { error_code: 'INVALID_TOKEN', message: 'Expired.' }, 'denied'],
      [404, { error_code: 'SCHEMA_DOES_NOT_EXIST', message: 'No.' }, 'missing'],
      [500, { error_code: 'NOT_FOUND', message: 'No.' }, 'missing'],
      [404, { error_code: 'ENDPOINT_NOT_FOUND', message: 'No API found.' }, 'unsupported'],
      [400, { error_code: 'INVALID_PARAMETER_VALUE', message: 'No.' }, 'failed'],
      [500, { error_code: 'INTERNAL_ERROR', message: 'No.' }, 'failed'],
      [404, 'Status: 404\nDescription: Not Found', 'failed'],
      [401, '<html><h1>Unauthorized</h1></html>', 'denied'],
      [502, '<html><h1>Bad Gateway</h1></html>', 'unreachable'],
      [204, '', 'failed'],
      [500, '', 'failed'],
    ])('HTTP %d with %j', async (status, body, fault) => {
      const client = await against(answering(status, body));
      const error = await faultOf(client.listTables(SCHEMA, NEVER));
      expect([error.fault, error.message]).toEqual([fault, expect.stringContaining(new URL(unity.url).host)]);
      expect(unity.calls).toHaveLength(1);
    });

    it('the words of the server, in one line and without the token', async () => {
      const echo = `Token ${TOKEN} is not valid ${'!'.repeat(1000)}`;
      const client = await against(answering(403, { error_code: 'PERMISSION_DENIED', message: echo }));
      const { message, cause } = await faultOf(client.listCatalogs(NEVER));
      expect(message).toMatch(/^127\.0\.0\.1:\d+: PERMISSION_DENIED: Token \*\*\* is not valid !{100,300}…$/);
      expect(cause).toBeUndefined();
    });

    it.each([200, 302, 401, 500])(
      'no token that a page with HTTP %d quotes, wherever the page is cut',
      async (status) => {
        for (const padding of [0, 280, 290, 1985, 1995]) {
          const client = await against(answering(status, `<html>${'x'.repeat(padding)}Bearer ${TOKEN}</html>`));
          const { message } = await faultOf(client.listCatalogs(NEVER));
          expect(message).not.toContain('dapi-');
          await unity.stop();
        }
      },
    );

    it('an expired token as denied', async () => {
      await start();
      const error = await faultOf(open(unity.url, 'dapi-expired').listCatalogs(NEVER));
      expect([error.fault, error.message]).toEqual(['denied', expect.stringContaining('Invalid access token.')]);
    });
  });

  describe('with a busy server', () => {
    const busyOnce = (status: number, headers: Record<string, string>): RequestListener => {
      return (request, response) => {
        unity.answerWith(null);
        answering(status, { error_code: 'RESOURCE_EXHAUSTED', message: 'Slow down.' }, headers)(request, response);
      };
    };

    it.each([
      [429, { 'Retry-After': '0' }],
      [503, { 'Retry-After': new Date(0).toUTCString() }],
      [503, {}],
    ])('retries after HTTP %d with %j', async (status, headers) => {
      const client = await against(busyOnce(status, headers));
      expect(await client.listCatalogs(NEVER)).toHaveLength(2);
      expect(unity.calls).toHaveLength(2);
    });

    it('waits as long as Retry-After says', async () => {
      const client = await against(busyOnce(429, { 'Retry-After': '1' }));
      const begin = performance.now();
      expect(await client.listCatalogs(NEVER)).toHaveLength(2);
      expect(performance.now() - begin).toBeGreaterThan(990);
    });

    it.each([
      ['it stays busy', '0', 2],
      ['the wait would outlast the deadline', '3600', 1],
    ])('gives up if %s', async (_case, after, calls) => {
      const client = await against(answering(429, { error_code: 'X', message: 'No.' }, { 'Retry-After': after }));
      expect((await faultOf(client.listCatalogs(NEVER))).fault).toBe('unreachable');
      expect(unity.calls).toHaveLength(calls);
    });
  });

  describe('survives a server that', () => {
    it.each(FAULTS_OF_HOSTILE_SERVERS)('%s', async (server, fault) => {
      const client = await against(HOSTILE_SERVERS[server], fault === 'timeout' ? SHORT : LONG);
      const begin = performance.now();
      expect((await faultOf(client.listTables(SCHEMA, NEVER))).fault).toBe(fault);
      expect(performance.now() - begin).toBeLessThan(15_000);
    });

    it('redirects, without sending the token there', async () => {
      const redirected = jest.fn();
      const other = await serveOnLoopback(redirected);
      try {
        for (const status of [301, 302, 303, 307, 308]) {
          const client = await against(answering(status, '', { Location: other.url }));
          expect((await faultOf(client.listCatalogs(NEVER))).fault).toBe('failed');
          await unity.stop();
        }
        expect(redirected).not.toHaveBeenCalled();
      } finally {
        await other.stop();
      }
    });

    it.each<[string, (page: number) => object, MetastoreFault]>([
      ['repeats a page', () => ({ tables: [], next_page_token: 'again' }), 'failed'],
      ['turns in a circle', (page) => ({ tables: [], next_page_token: `token ${page % 3}` }), 'failed'],
      ['has no last page', (page) => ({ tables: [], next_page_token: `token ${page}` }), 'timeout'],
      [
        'lists without end',
        (page) => ({
          tables: Array.from({ length: 50_000 }, (_, at) => ({ name: `t${page}-${at}` })),
          next_page_token: `token ${page}`,
        }),
        'too-large',
      ],
      [
        'lists one table without end',
        (page) => ({
          tables: Array.from({ length: 200 }, () => ({ name: 't', owner: 'x'.repeat(60_000) })),
          next_page_token: `token ${page}`,
        }),
        'too-large',
      ],
      ['has megabytes of token', () => ({ tables: [], next_page_token: 'x'.repeat(1_000_000) }), 'too-large'],
    ])('%s', async (_case, page, fault) => {
      let pages = 0;
      await start();
      const client = open(unity.url, TOKEN, fault === 'timeout' ? SHORT : LONG);
      // Otherwise a fast machine has read as many pages as there may be before the time is over.
      const pauseMs = fault === 'timeout' ? 1 : 0;
      unity.answerWith((_request, response) => {
        setTimeout(() => response.end(JSON.stringify(page((pages += 1)))), pauseMs);
      });
      expect((await faultOf(client.listTables(SCHEMA, NEVER))).fault).toBe(fault);
    });

    it.each<[string, object]>([
      ['a malformed list', { tables: { name: 't' } }],
      ['a malformed table', { tables: ['t'] }],
      ['a table without a name', { tables: [{ name: null }] }],
      ['a malformed name', { tables: [{ name: ['t'] }] }],
      ['a name of megabytes', { tables: [{ name: 'x'.repeat(1_000_000) }] }],
      ['a malformed time', { tables: [{ name: 't', created_at: 'yesterday' }] }],
      ['a time without end', { tables: [{ name: 't', created_at: 1e300 }] }],
      ['a malformed owner', { tables: [{ name: 't', owner: {} }] }],
      ['a malformed token', { tables: [], next_page_token: 7 }],
    ])('lies: %s', async (_case, body) => {
      const client = await against(answering(200, body));
      expect(['failed', 'too-large']).toContain((await faultOf(client.listTables(SCHEMA, NEVER))).fault);
    });

    it.each<[string, object]>([
      ['another table', { name: 'other' }],
      ['columns that are none', { name: 't', columns: 'a' }],
      ['a column without a name', { name: 't', columns: [{ type_text: 'int' }] }],
      ['a malformed position', { name: 't', columns: [{ name: 'a', position: '1' }] }],
      ['properties that are none', { name: 't', properties: ['a'] }],
      ['a property that is no text', { name: 't', properties: { a: 1 } }],
    ])('lies of a table: %s', async (_case, body) => {
      const client = await against(answering(200, body));
      const error = await faultOf(client.readTable({ ...SCHEMA, table: 't' }, NEVER));
      expect(error.fault).toBe('failed');
    });

    it('names properties and schemas like parts of an object', async () => {
      const properties = JSON.parse('{"__proto__": "p", "constructor": "c"}') as Record<string, string>;
      const client = await against(answering(200, { name: 't', properties }));
      const table = await client.readTable({ ...SCHEMA, table: 't' }, NEVER);
      expect(Object.entries(table!.properties)).toEqual([
        ['__proto__', 'p'],
        ['constructor', 'c'],
      ]);
    });
  });

  describe('ends a call', () => {
    it('when its caller aborts', async () => {
      const client = await against(HOSTILE_SERVERS['never answers'], SHORT);
      const controller = new AbortController();
      const call = faultOf(client.listCatalogs(controller.signal));
      controller.abort();
      expect((await call).fault).toBe('timeout');
      expect((await faultOf(client.listCatalogs(controller.signal))).fault).toBe('timeout');
    });

    it('at its deadline, however many requests it makes', async () => {
      const client = await start({ latencyMs: 100, pageLength: 1 }, SHORT);
      const begin = performance.now();
      expect((await faultOf(client.listTables(SCHEMA, NEVER))).fault).toBe('timeout');
      expect(performance.now() - begin).toBeLessThan(15_000);
      const { length } = unity.calls;
      await new Promise((resolve) => setTimeout(resolve, 500));
      // One may have been on its way.
      expect(unity.calls.length - length).toBeLessThanOrEqual(1);
    });

    it('when the client is closed, and begins none afterwards', async () => {
      const client = await against(HOSTILE_SERVERS['never answers'], SHORT);
      const call = faultOf(client.listCatalogs(NEVER));
      client.close();
      expect((await call).fault).toBe('unreachable');
      expect((await faultOf(client.listCatalogs(NEVER))).fault).toBe('unreachable');
    });
  });

  it('repeats a request on a connection that the server was closing', async () => {
    const client = await start();
    await client.listCatalogs(NEVER);
    unity.answerWith((request) => {
      unity.answerWith(null);
      request.socket.resetAndDestroy();
    });
    expect(await client.listCatalogs(NEVER)).toHaveLength(2);
    expect(unity.calls).toHaveLength(3);
  });
});
