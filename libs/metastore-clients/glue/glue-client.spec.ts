import type { RequestListener } from 'node:http';
import { OutboundPolicy } from '../../outbound-policy/outbound-policy';
import { FakeGlue, type FakeGlueOptions, fakeGlueTable } from '../../../test/fakes/metastores/fake-glue';
import { answering as answeringHttp, HOSTILE_SERVERS } from '../../../test/fakes/http/hostile-http';
import { FAULTS_OF_HOSTILE_SERVERS } from '../../../test/fakes/metastores/hostile-metastores';
import { serveOnLoopback } from '../../../test/fakes/http/loopback-server';
import { MetastoreError, type MetastoreFault } from '../metastore-client';
import { CONTRACT_TABLES, describeMetastoreClientContract, faultOf } from '../metastore-client.contract';
import { GLUE_CATALOG, GlueClient, type GlueTarget } from './glue-client';

const SECRET = 'the-secret/key+0123456789';
const KEYS = { region: 'eu-west-1', accessKeyId: 'AKIAEXAMPLE', secretAccessKey: SECRET };
const SCHEMA = { catalog: null, schema: 'sales' };
const NEVER = new AbortController().signal;
/** For megabytes on a busy machine. */
const LONG = { callMs: 60_000, requestMs: 30_000 };
const TIMEOUTS = { callMs: 1500, requestMs: 1000 };

const NUMBERS = Array.from({ length: 250 }, (_, index) => `t${String(index).padStart(3, '0')}`);
const outbound = new OutboundPolicy({ schemes: ['http'], allowedClasses: ['loopback'] });

function databases(): FakeGlueOptions['databases'] {
  const functions = [{ FunctionName: 'twice', ClassName: 'org.example.Twice', OwnerName: 'ada', CreateTime: 7 }];
  return {
    sales: {
      record: { Description: 'Sold', LocationUri: 's3://warehouse/sales', CreateTime: 1_700_000_000 },
      tables: NUMBERS.toReversed().map((name) => fakeGlueTable(name, 3)),
      functions,
    },
    empty: {},
  };
}

describeMetastoreClientContract('The client of Glue', async () => {
  const columns = [{ Name: 'id' }, { Name: 'name' }];
  const tables = CONTRACT_TABLES.map((name) => {
    return { ...fakeGlueTable(name), StorageDescriptor: { Columns: columns, Location: `s3://warehouse/${name}` } };
  });
  const { accessKeyId } = KEYS;
  const glue = await FakeGlue.start({ accessKeyId, databases: { filled: { tables }, empty: {} } });
  const open = (endpoint: string, ms: number) =>
    new GlueClient({ ...KEYS, endpoint }, outbound, { callMs: ms, requestMs: ms });
  const client = open(glue.url, 30_000);
  return {
    client,
    filled: { catalog: null, schema: 'filled' },
    empty: { catalog: null, schema: 'empty' },
    missing: { catalog: null, schema: 'missing' },
    at: (port, deadlineMs) => open(`http://127.0.0.1:${port}`, deadlineMs),
    close: async () => {
      client.close();
      await glue.stop();
    },
  };
});

describe('GlueClient', () => {
  const clients: GlueClient[] = [];
  let glue: FakeGlue;

  const open = (changes: Partial<GlueTarget> = {}, timeouts = TIMEOUTS) => {
    const client = new GlueClient({ ...KEYS, endpoint: glue.url, ...changes }, outbound, timeouts);
    clients.push(client);
    return client;
  };
  const start = async (options: Partial<FakeGlueOptions> = {}) => {
    glue = await FakeGlue.start({ databases: databases(), accessKeyId: KEYS.accessKeyId, ...options });
    return open();
  };
  /** A server that answers every request alike. */
  const against = async (listener: RequestListener) => {
    const client = await start();
    glue.answerWith(listener);
    return client;
  };
  const answering = (status: number, body: unknown, headers: Record<string, string> = {}) =>
    answeringHttp(status, body, { 'Content-Type': 'application/x-amz-json-1.1', ...headers });
  const names = (entries: { name: string }[]) => entries.map(({ name }) => name);

  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await glue.stop();
  });

  describe('reads', () => {
    it('one catalog, once Glue has accepted the keys', async () => {
      const client = await start();
      expect(names(await client.listCatalogs(NEVER))).toEqual([GLUE_CATALOG]);
      const error = await faultOf(open({ accessKeyId: 'AKIAOTHER' }).listCatalogs(NEVER));
      const message = expect.stringMatching(/^127\.0\.0\.1:\d+: UnrecognizedClientException: The security token /);
      expect([error.fault, error.message]).toEqual(['denied', message]);
    });

    it('databases as schemas', async () => {
      const client = await start();
      const unknown = { catalog: null, owner: null, createdBy: null, updatedAt: null, updatedBy: null };
      expect(await client.listSchemas(null, NEVER)).toEqual([
        { ...unknown, name: 'empty', comment: null, createdAt: null },
        { ...unknown, name: 'sales', comment: 'Sold', createdAt: 1_700_000_000_000 },
      ]);
    });

    it('tables of all pages, sorted, with owners and times', async () => {
      const client = await start();
      const tables = await client.listTables(SCHEMA, NEVER);
      expect(names(tables)).toEqual(NUMBERS);
      expect(tables[0]).toEqual({
        ...SCHEMA,
        name: 't000',
        tableType: 'EXTERNAL_TABLE',
        owner: 'ada',
        createdAt: 1_700_000_000_000,
        createdBy: 'arn:aws:iam::123456789012:user/ada',
        updatedAt: 1_700_000_060_500,
        updatedBy: null,
      });
      expect(glue.calls).toHaveLength(3);
    });

    it('a table with all its details', async () => {
      const client = await start();
      const column = (name: string, type = 'bigint') => ({ name, type, comment: null });
      expect(await client.readTable({ ...SCHEMA, table: 'T007' }, NEVER)).toEqual({
        ...SCHEMA,
        name: 't007',
        tableType: 'EXTERNAL_TABLE',
        owner: 'ada',
        createdAt: 1_700_000_000_000,
        createdBy: 'arn:aws:iam::123456789012:user/ada',
        updatedAt: 1_700_000_060_500,
        updatedBy: null,
        comment: 'Made by Spark',
        columns: [column('column_0'), column('column_1'), column('column_2')],
        partitionColumns: [column('day', 'date')],
        location: 's3://warehouse/sales/t007',
        dataSourceFormat: null,
        inputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat',
        outputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat',
        serde: 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe',
        serdeProperties: { 'serialization.format': '1' },
        bucketColumns: [],
        sortColumns: [],
        buckets: 0,
        properties: { 'spark.sql.sources.provider': 'parquet' },
        viewText: null,
      });
    });

    it('buckets, their order, and views', async () => {
      const StorageDescriptor = {
        NumberOfBuckets: 4,
        BucketColumns: ['a', 'b'],
        SortColumns: [
          { Column: 'a', SortOrder: 1 },
          { Column: 'b', SortOrder: 0 },
        ],
      };
      const bucketed = { Name: 'bucketed', StorageDescriptor, Parameters: { comment: 'In buckets' } };
      const view = { Name: 'seen', TableType: 'VIRTUAL_VIEW', ViewOriginalText: 'SELECT 1' };
      const client = await start({ databases: { sales: { tables: [bucketed, view] } } });
      expect(await client.readTable({ ...SCHEMA, table: 'bucketed' }, NEVER)).toMatchObject({
        buckets: 4,
        bucketColumns: ['a', 'b'],
        sortColumns: [
          { name: 'a', ascending: true },
          { name: 'b', ascending: false },
        ],
        comment: 'In buckets',
      });
      expect(await client.readTable({ ...SCHEMA, table: 'seen' }, NEVER)).toMatchObject({
        tableType: 'VIRTUAL_VIEW',
        viewText: 'SELECT 1',
        columns: [],
        location: null,
      });
    });

    it('functions', async () => {
      const client = await start();
      expect(await client.listFunctions(SCHEMA, NEVER)).toEqual([
        expect.objectContaining({
          name: 'twice',
          routineDefinition: 'org.example.Twice',
          owner: 'ada',
          createdAt: 7000,
        }),
      ]);
    });

    it.each(['a.b', '`q\'uo"te`', 'ü ñ 表', '../x', 'a\nb'])(
      'the table and the schema %p by that very name',
      async (name) => {
        const client = await start({ databases: { [name]: { tables: [fakeGlueTable(name, 1)] } } });
        const schema = { catalog: null, schema: name };
        expect(names(await client.listTables(schema, NEVER))).toEqual([name]);
        expect(await client.readTable({ ...schema, table: name }, NEVER)).toMatchObject({ name });
      },
    );

    it.each([
      ['is empty', ''],
      ['is half a character', '\ud800'],
      ['is too long', 'x'.repeat(256)],
    ])('nothing for a name that %s, without a request', async (_case, name) => {
      const client = await start();
      expect(await client.readTable({ ...SCHEMA, table: name }, NEVER)).toBeNull();
      expect((await faultOf(client.listTables({ catalog: null, schema: name }, NEVER))).fault).toBe('missing');
      expect(glue.calls).toEqual([]);
    });
  });

  describe('its keys', () => {
    it('may be temporary', async () => {
      await start({ sessionToken: 'session-1' });
      expect(await open({ sessionToken: 'session-1' }).listSchemas(null, NEVER)).toHaveLength(2);
      const expired = await faultOf(open({ sessionToken: 'session-0' }).listSchemas(null, NEVER));
      expect([expired.fault, expired.message]).toEqual(['denied', expect.stringContaining('ExpiredTokenException')]);
    });

    it.each<[string, Partial<GlueTarget>]>([
      ['a malformed region', { region: 'eu.example.org/' }],
      ['an access key that adds a header', { accessKeyId: 'a\r\nX-Injected: 1' }],
      ['a session token that cannot be sent', { sessionToken: 'ü' }],
      ['an endpoint that is not a URL', { endpoint: 'glue' }],
      ['an endpoint that may not be called', { endpoint: 'http://169.254.169.254' }],
    ])('are refused with %s', async (_case, changes) => {
      await start();
      expect(() => open(changes)).toThrow(MetastoreError);
    });

    it('are not sent to a refused address, even by a name', async () => {
      await start();
      const resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
      const strict = new OutboundPolicy({ schemes: ['http'], allowedClasses: ['private'] }, resolve);
      const client = new GlueClient({ ...KEYS, endpoint: 'http://glue.example' }, strict, TIMEOUTS);
      const error = await faultOf(client.listSchemas(null, NEVER));
      expect([error.fault, error.message]).toEqual(['unreachable', expect.stringContaining('are refused')]);
    });
  });

  describe('reports', () => {
    it.each<[number, string, MetastoreFault]>([
      [400, 'AccessDeniedException', 'denied'],
      [400, 'ExpiredTokenException', 'denied'],
      [403, 'ExpiredToken', 'denied'],
      [400, 'UnrecognizedClientException', 'denied'],
      [403, 'InvalidSignatureException', 'denied'],
      [400, 'EntityNotFoundException', 'missing'],
      [400, 'ThrottlingException', 'unreachable'],
      [503, 'ServiceUnavailableException', 'unreachable'],
      [400, 'OperationTimeoutException', 'timeout'],
      [400, 'UnknownOperationException', 'unsupported'],
      [400, 'InvalidInputException', 'failed'],
      [500, 'InternalServiceException', 'failed'],
    ])('HTTP %d with %s', async (status, __type, fault) => {
      const client = await against(answering(status, { __type, Message: `No: ${SECRET}.` }));
      const error = await faultOf(client.listTables(SCHEMA, NEVER));
      const message = expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:\\d+: ${__type}: No: \\*\\*\\*\\.$`));
      expect([error.fault, error.message]).toEqual([fault, message]);
      expect(error.cause).toBeUndefined();
    });

    it.each<[number, MetastoreFault]>([
      [200, 'failed'],
      [302, 'failed'],
      [403, 'denied'],
      [404, 'failed'],
      [502, 'unreachable'],
    ])('a page with HTTP %d', async (status, fault) => {
      const client = await against(answering(status, '<html>Bearer</html>', { 'Content-Type': 'text/html' }));
      const error = await faultOf(client.listTables(SCHEMA, NEVER));
      expect([error.fault, error.message]).toEqual([fault, expect.stringContaining('does not answer like AWS Glue')]);
    });
  });

  describe('with a busy service', () => {
    const throttled = { __type: 'ThrottlingException', Message: 'Rate exceeded' };

    it('retries the request', async () => {
      await start();
      const client = open({}, LONG);
      glue.answerWith((request, response) => {
        glue.answerWith(null);
        answering(400, throttled)(request, response);
      });
      expect(await client.listSchemas(null, NEVER)).toHaveLength(2);
      expect(glue.calls).toHaveLength(2);
    });

    it('gives up after the second attempt, and does not wait an hour', async () => {
      await start();
      glue.answerWith(answering(400, throttled, { 'Retry-After': '3600' }));
      const client = open({}, { callMs: 10_000, requestMs: 10_000 });
      expect((await faultOf(client.listSchemas(null, NEVER))).fault).toBe('unreachable');
      expect(glue.calls).toHaveLength(2);
    });
  });

  describe('survives a server that', () => {
    it.each(FAULTS_OF_HOSTILE_SERVERS)('%s', async (server, fault) => {
      await start();
      glue.answerWith(HOSTILE_SERVERS[server]);
      const client = open({}, fault === 'timeout' ? TIMEOUTS : LONG);
      const begin = performance.now();
      expect((await faultOf(client.listTables(SCHEMA, NEVER))).fault).toBe(fault);
      expect(performance.now() - begin).toBeLessThan(15_000);
    });

    it('redirects', async () => {
      const redirected = jest.fn();
      const other = await serveOnLoopback(redirected);
      try {
        const client = await against(answering(307, '', { Location: other.url }));
        expect((await faultOf(client.listSchemas(null, NEVER))).fault).toBe('failed');
        expect(redirected).not.toHaveBeenCalled();
      } finally {
        await other.stop();
      }
    });

    it.each<[string, object]>([
      ['a malformed list', { TableList: { Name: 't' } }],
      ['an answer of another operation', { Tables: [] }],
      ['a malformed table', { TableList: ['t'] }],
      ['a table without a name', { TableList: [{}] }],
      ['a name of megabytes', { TableList: [{ Name: 'x'.repeat(1_000_000) }] }],
      ['a malformed time', { TableList: [{ Name: 't', CreateTime: 'yesterday' }] }],
      ['a time without end', { TableList: [{ Name: 't', CreateTime: 1e300 }] }],
      ['a malformed owner', { TableList: [{ Name: 't', Owner: {} }] }],
      ['the same page again', { TableList: [], NextToken: 'again' }],
      ['a token of megabytes', { TableList: [], NextToken: 'x'.repeat(1_000_000) }],
    ])('lies: %s', async (_case, body) => {
      const client = await against(answering(200, body));
      expect(['failed', 'too-large']).toContain((await faultOf(client.listTables(SCHEMA, NEVER))).fault);
    });

    it.each<[string, object]>([
      ['another table', { Name: 'other' }],
      ['columns that are none', { Name: 't', StorageDescriptor: { Columns: 'a' } }],
      ['a column without a name', { Name: 't', PartitionKeys: [{ Type: 'int' }] }],
      ['properties that are none', { Name: 't', Parameters: ['a'] }],
      ['a property that is no text', { Name: 't', Parameters: { a: 1 } }],
      ['buckets that are none', { Name: 't', StorageDescriptor: { BucketColumns: [1] } }],
    ])('lies of a table: %s', async (_case, Table) => {
      const client = await against(answering(200, { Table }));
      expect((await faultOf(client.readTable({ ...SCHEMA, table: 't' }, NEVER))).fault).toBe('failed');
    });
  });
});
