import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { HiveMetastoreClient } from '../../libs/metastore-clients/hive/hive-metastore-client';
import {
  CONTRACT_TABLES,
  describeMetastoreClientContract,
} from '../../libs/metastore-clients/metastore-client.contract';
import { OutboundPolicy } from '../../libs/outbound-policy/outbound-policy';
import { freePort } from '../../scripts/embedded/ports.mjs';
import { eventually } from '../harness/eventually';
import { HiveMetastore } from '../harness/hive-metastore';

const outbound = new OutboundPolicy({ schemes: ['https'], allowedClasses: ['loopback'] });
const never = new AbortController().signal;

function clientAt(port: number, deadlineMs = 30_000): HiveMetastoreClient {
  return new HiveMetastoreClient({ uris: [{ host: '127.0.0.1', port }], outbound, deadlineMs });
}

const filled = { catalog: null, schema: 'filled' };
const column = (name: string) => ({ name, type: 'string', comment: null });

describeMetastoreClientContract('the client of a Hive metastore', async () => {
  const metastore = await HiveMetastore.start();
  for (const schema of ['filled', 'empty']) await metastore.createDatabase(schema);
  const sd = { cols: [column('id'), column('name')] };
  await metastore.createTables(
    'filled',
    CONTRACT_TABLES.map((tableName) => ({ tableName, sd, partitionKeys: [column('day')] })),
  );
  const client = clientAt(metastore.port);
  return {
    client,
    filled,
    empty: { catalog: null, schema: 'empty' },
    missing: { catalog: null, schema: 'missing' },
    at: clientAt,
    close: async () => {
      client.close();
      await metastore.stop();
    },
  };
});

describe('a Hive metastore', () => {
  let metastore: HiveMetastore;
  let client: HiveMetastoreClient;

  beforeAll(async () => {
    metastore = await HiveMetastore.start();
    client = clientAt(metastore.port);
  });
  afterAll(async () => {
    client.close();
    await metastore.stop();
    expect(existsSync(dirname(metastore.warehouse))).toBe(false);
  });

  it('returns the comments of its schemas', async () => {
    await metastore.createDatabase('told', { description: 'of the year', ownerName: 'ada' });
    const schemas = await client.listSchemas(null, never);
    expect(schemas.find((schema) => schema.name === 'told')).toMatchObject({ comment: 'of the year', owner: 'ada' });
    expect(schemas.map((schema) => schema.name)).toContain('default');
    await expect(client.listCatalogs(never)).rejects.toMatchObject({ fault: 'unsupported' });
    expect(await client.listVolumes({ catalog: null, schema: 'told' }, never)).toEqual([]);
  });

  it('returns all details of a table', async () => {
    await metastore.createDatabase('whole');
    await metastore.createTables('whole', [
      {
        tableName: 'events',
        owner: 'ada',
        partitionKeys: [{ name: 'day', type: 'date', comment: 'of the event' }],
        parameters: { comment: 'what happened', 'spark.sql.sources.provider': 'parquet' },
        sd: {
          cols: [
            { name: 'id', type: 'bigint', comment: null },
            { name: 'größe', type: 'struct<a:int,b:array<string>>', comment: 'Grüße' },
          ],
          bucketCols: ['id'],
          sortCols: [{ col: 'id', order: 0 }],
          numBuckets: 8,
          serdeInfo: { name: null, serializationLib: 'org.example.Serde', parameters: { 'field.delim': '\t' } },
        },
      },
      {
        tableName: 'recent',
        tableType: 'VIRTUAL_VIEW',
        viewOriginalText: 'SELECT `id` FROM events',
        viewExpandedText: 'SELECT `events`.`id` FROM `whole`.`events`',
        sd: { location: null },
      },
    ]);
    const schema = { catalog: null, schema: 'whole' };
    const info = { ...schema, owner: 'ada', tableType: 'EXTERNAL_TABLE', createdAt: expect.any(Number) };
    const table = await client.readTable({ ...schema, table: 'EVENTS' }, never);
    expect(table).toMatchObject({
      ...info,
      comment: 'what happened',
      columns: [
        { name: 'id', type: 'bigint', comment: null },
        { name: 'größe', type: 'struct<a:int,b:array<string>>', comment: 'Grüße' },
      ],
      partitionColumns: [{ name: 'day', type: 'date', comment: 'of the event' }],
      inputFormat: 'org.apache.hadoop.mapred.TextInputFormat',
      serde: 'org.example.Serde',
      serdeProperties: { 'field.delim': '\t' },
      bucketColumns: ['id'],
      sortColumns: [{ name: 'id', ascending: false }],
      buckets: 8,
      viewText: null,
    });
    expect(table?.properties).toMatchObject({ EXTERNAL: 'TRUE', 'spark.sql.sources.provider': 'parquet' });
    expect(Math.abs(Date.now() - (table?.createdAt ?? 0))).toBeLessThan(600_000);
    expect(await client.describeTables(schema, ['events'], never)).toMatchObject([info]);
    expect(await client.readTable({ ...schema, table: 'recent' }, never)).toMatchObject({
      tableType: 'VIRTUAL_VIEW',
      viewText: 'SELECT `id` FROM events',
      location: null,
    });
  });

  it('keeps strange names', async () => {
    // Hive itself admits only letters, digits, _ and /.
    const strange = ['a/b', '/', '1', '_', 'x'.repeat(255)];
    await metastore.createDatabase('strange');
    await metastore.createTables(
      'strange',
      strange.map((tableName) => ({ tableName })),
    );
    const schema = { catalog: null, schema: 'strange' };
    expect((await client.listTables(schema, never)).map((table) => table.name)).toEqual([...strange].sort());
    expect((await client.describeTables(schema, strange, never)).map((table) => table.name)).toEqual(strange.sort());
    for (const table of strange)
      expect(await client.readTable({ ...schema, table }, never)).toMatchObject({ name: table });
    for (const table of ['*', '.*', 'a', 'a.b', 'a`b', 'a b', 'größe', '表', 'y'.repeat(255), "' OR '1'='1"]) {
      expect(await client.readTable({ ...schema, table }, never)).toBeNull();
      expect(await client.describeTables(schema, [table], never)).toEqual([]);
      await expect(client.listTables({ catalog: null, schema: table }, never)).rejects.toMatchObject({
        fault: 'missing',
      });
    }
  });

  it('returns the functions of a schema', async () => {
    await metastore.createDatabase('functions');
    await metastore.createFunction('functions', { functionName: 'twice', className: 'org.example.Twice' });
    await metastore.createFunction('functions', { functionName: 'again' });
    await metastore.createFunction('default', { functionName: 'elsewhere' });
    const found = await client.listFunctions({ catalog: null, schema: 'functions' }, never);
    expect(found.map((told) => told.name)).toEqual(['again', 'twice']);
    expect(found[1]).toMatchObject({ schema: 'functions', owner: 'tests', routineDefinition: 'org.example.Twice' });
  });

  it('is reached if another server of the list is down, and after its connections broke', async () => {
    const down = await freePort();
    const uris = [down, metastore.port].map((port) => ({ host: 'localhost', port }));
    const several = new HiveMetastoreClient({ uris, outbound, deadlineMs: 10_000 });
    expect(await several.listSchemas(null, never)).not.toEqual([]);
    several.close();
  });

  it('fails a call at the deadline while it is suspended, and answers the next call once it is resumed', async () => {
    const hurried = clientAt(metastore.port, 500);
    // On a busy machine, a response may take longer.
    expect(await eventually(() => hurried.listSchemas(null, never), { timeoutMs: 30_000 })).not.toEqual([]);
    await metastore.halt();
    try {
      const calls = Array.from({ length: 5 }, () => hurried.listSchemas(null, never));
      for (const call of calls) await expect(call).rejects.toMatchObject({ fault: 'timeout' });
    } finally {
      metastore.resume();
    }
    expect(await client.listSchemas(null, never)).not.toEqual([]);
    hurried.close();
  });
});
