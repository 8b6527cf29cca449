import type { Table } from '../metastore-clients/metastore-client';
import { tableOfHive } from '../../test/fakes/tables/hive-table';
import { RECORDED } from '../../test/fakes/tables/recorded-hive-tables';
import { columnsOf } from './columns-of';
import type { TableColumns } from './table-columns';

const signal = AbortSignal.timeout(60_000);
const columnsIn = (table: Table) => columnsOf(table, null, signal);
const recorded = (name: keyof typeof RECORDED, change: Partial<Table> = {}) =>
  ({ ...tableOfHive(RECORDED[name]), ...change }) satisfies Table;
const types = ({ columns }: TableColumns) => Object.fromEntries(columns.map(({ name, typeText }) => [name, typeText]));

/** Replaces the properties that begin with a prefix. */
const changed = (table: Table, prefix: string, properties: Record<string, string>): Table => ({
  ...table,
  properties: {
    ...Object.fromEntries(Object.entries(table.properties).filter(([name]) => !name.startsWith(prefix))),
    ...properties,
  },
});

const SCHEMA = 'spark.sql.sources.schema';

describe('columns of a Hive table', () => {
  it('have the upper case that Spark stores, and buckets', async () => {
    const found = await columnsIn(recorded('bucketed'));
    expect([found.kind, found.provider, types(found)]).toEqual(['hive', null, { a: 'int', B: 'string' }]);
    expect(found.bucketing).toEqual({ columns: ['a'], sortColumns: ['a'], buckets: 4 });
    expect(found.properties).toEqual({});
  });

  it("are Hive's if Hive has changed them since, or Spark stores none", async () => {
    const table = recorded('bucketed');
    const columns = [...table.columns, { name: 'c', type: 'uniontype<int,string>', comment: 'new' }];
    for (const one of [
      { ...table, columns },
      { ...changed(table, SCHEMA, {}), columns },
    ])
      expect(types(await columnsIn(one))).toEqual({ a: 'int', b: 'string', c: 'uniontype<int,string>' });
  });

  it('come before those of its partitions', async () => {
    const partitionColumns = [{ name: 'p', type: 'date', comment: 'day' }];
    const found = await columnsIn({ ...changed(recorded('text'), SCHEMA, {}), partitionColumns });
    expect(found.columns.map(({ name, position, partition }) => [name, position, partition])).toEqual([
      ['a', 0, false],
      ['s', 1, false],
      ['p', 2, true],
    ]);
  });

  it('are all shown even if one is malformed', async () => {
    const table = changed(recorded('text'), SCHEMA, {});
    const found = await columnsIn({
      ...table,
      columns: [...table.columns, { name: 'x', type: 'struct<', comment: null }],
    });
    expect(types(found)).toEqual({ a: 'int', s: 'struct<A:int>', x: 'struct<' });
    expect(found.columns[2]!.typeName).toBe('STRUCT');
  });
});

describe('columns of a data source table', () => {
  it('are in its properties, with comments, sized texts, defaults, partitions and options', async () => {
    const found = await columnsIn(recorded('spark'));
    expect([found.kind, found.provider, found.comment, found.options, found.properties]).toEqual([
      'spark',
      'parquet',
      'tc',
      { compression: 'gzip' },
      { k: 'v' },
    ]);
    expect(types(found)).toEqual({
      a: 'int',
      v: 'varchar(5)',
      nest: 'struct<a:struct<b:array<struct<c:int>>>>',
      d: 'int',
      p: 'string',
    });
    expect(found.columns.map(({ comment, defaultSql, partition }) => [comment, defaultSql, partition])).toEqual([
      ['c', null, false],
      [null, null, false],
      [null, null, false],
      [null, '5', false],
      [null, null, true],
    ]);
    expect(found.bucketing).toEqual({ columns: ['a'], sortColumns: ['v'], buckets: 2 });
  });

  it('are found if the metastore has no columns, and in many parts', async () => {
    expect(types(await columnsIn(recorded('csv')))).toEqual({ 'a b': 'int', ü: 'string' });
    const table = recorded('spark');
    const parts = table.properties[SCHEMA]!.match(/[^]{1,40}/g)!;
    const properties = Object.fromEntries(parts.map((part, at) => [`${SCHEMA}.part.${at}`, part]));
    const cut = changed(table, SCHEMA, { ...properties, [`${SCHEMA}.numParts`]: String(parts.length) });
    expect(types(await columnsIn(cut))).toEqual(types(await columnsIn(table)));
    delete cut.properties[`${SCHEMA}.part.3`];
    await expect(columnsIn(cut)).rejects.toMatchObject({
      fault: 'missing',
      message: expect.stringContaining('Part 3 of the'),
    });
  });

  it.each<[string, Record<string, string>, string]>([
    ['parts without a number', { [`${SCHEMA}.part.0`]: '{}' }, 'missing'],
    ['a billion parts', { [`${SCHEMA}.numParts`]: '999999999' }, 'malformed'],
    ['a negative number of parts', { [`${SCHEMA}.numParts`]: '-1' }, 'malformed'],
    ['text that is not JSON', { [SCHEMA]: '{"type":' }, 'malformed'],
    ['JSON of another kind', { [SCHEMA]: '[]' }, 'malformed'],
    ['a field without a type', { [SCHEMA]: '{"type":"struct","fields":[{"name":"a"}]}' }, 'malformed'],
    ['a giant text', { [SCHEMA]: ' '.repeat(2 ** 23 + 1) }, 'too-large'],
    ['brackets without end', { [SCHEMA]: '['.repeat(2 ** 22) }, 'too-large'],
    [
      'types without end',
      {
        [SCHEMA]: `{"type":"struct","fields":[{"name":"a","type":${'{"type":"array","elementType":'.repeat(50_000)}"int"${'}'.repeat(50_000)}}]}`,
      },
      'too-large',
    ],
    [
      'fields without end',
      { [SCHEMA]: `{"type":"struct","fields":[${'{"name":"a","type":"int"},'.repeat(100_001)}{}]}` },
      'too-large',
    ],
    ['a partition column that is not named', { [SCHEMA]: '{"fields":[]}', [`${SCHEMA}.numPartCols`]: '2' }, 'missing'],
  ])('are refused with %s', async (_case, properties, fault) => {
    const table = changed(recorded('spark'), SCHEMA, properties);
    await expect(columnsIn(table)).rejects.toMatchObject({ name: 'TableSchemaError', fault });
  });

  it('may have the names of object properties', async () => {
    const json = '{"type":"struct","fields":[{"name":"__proto__","type":"constructor","metadata":{}}]}';
    const found = await columnsIn(changed(recorded('spark'), SCHEMA, { [SCHEMA]: json }));
    expect(found.columns.map(({ name, typeText }) => [name, typeText])).toEqual([['__proto__', 'constructor']]);
  });
});

it('columns of a view are those that Spark stores', async () => {
  const found = await columnsIn(recorded('view'));
  expect([found.kind, found.comment, found.properties]).toEqual(['view', 'vc', { k: 'v' }]);
  expect(found.columns.map(({ name, typeText, comment }) => [name, typeText, comment])).toEqual([
    ['x', 'int', 'xc'],
    ['y', 'string', null],
  ]);
});

it("columns of Unity's tables are its own", async () => {
  const table: Table = {
    ...recorded('csv'),
    catalog: 'main',
    inputFormat: null,
    dataSourceFormat: 'DELTA',
    properties: { 'delta.lastUpdateVersion': '3', 'delta.appendOnly': 'true' },
    columns: [{ name: 'a', type: 'STRUCT<x: BIGINT>', comment: null }],
    partitionColumns: [{ name: 'p', type: 'int', comment: null }],
  };
  const found = await columnsIn(table);
  expect([found.kind, found.provider, types(found)]).toEqual(['delta', 'delta', { a: 'struct<x:bigint>', p: 'int' }]);
  expect(found.partitioning).toEqual([{ transform: 'identity', columns: [['p']], argument: null }]);
  expect(found.properties).toEqual({ 'delta.appendOnly': 'true' });
});

it("columns of Unity's tables have their positions, NOT NULL and Spark's names", async () => {
  const field = (name: string, type: unknown) =>
    JSON.stringify({ name, type, nullable: true, metadata: { comment: 'c' } });
  const nested = { type: 'struct', fields: [{ name: 'firstName', type: 'string', nullable: false, metadata: {} }] };
  const column = (name: string, position: number, type: string, json: string | null, nullable = true) => {
    return { name, position, type, json, nullable, comment: null };
  };
  const found = await columnsIn({
    ...recorded('csv'),
    catalog: 'main',
    inputFormat: null,
    dataSourceFormat: 'PARQUET',
    properties: {},
    columns: [
      column('id', 2, 'bigint', '"long"', false),
      column('person', 3, 'struct<firstname:string>', field('person', nested)),
      column(
        'list',
        4,
        'array<struct<a:int>>',
        '{"type":"array","elementType":{"type":"struct","fields":[{"name":"A","type":"integer"}]}}',
      ),
      column('price', 5, 'decimal(12,3)', 'no JSON'),
      column('odd', 6, 'string', '"nonsense"'),
    ],
    partitionColumns: [column('country', 1, 'string', null), column('day', 0, 'date', field('day', 'date'))],
  });
  expect(found.columns.map(({ name, typeText, nullable, partition }) => [name, typeText, nullable, partition])).toEqual(
    [
      ['day', 'date', true, true],
      ['country', 'string', true, true],
      ['id', 'bigint', false, false],
      ['person', 'struct<firstName:string>', true, false],
      ['list', 'array<struct<A:int>>', true, false],
      ['price', 'decimal(12,3)', true, false],
      ['odd', 'string', true, false],
    ],
  );
  expect(found.columns[0]?.comment).toBe('c');
  expect(found.partitioning.flatMap(({ columns }) => columns)).toEqual([['country'], ['day']]);
});

it.each([
  ['need a secret for their files', 's3a://b/t', 'object storage secret'],
  ['need a cluster if their files are not in an object store', 'file:/t', '"file:/t", which only nodes of clusters'],
])('columns of Delta and Iceberg %s', async (_, location, text) => {
  const others: Partial<Table>[] = [
    { properties: { 'spark.sql.sources.provider': 'delta' }, location, serdeProperties: {} },
    { properties: { table_type: 'ICEBERG', metadata_location: location } },
  ];
  for (const other of others)
    await expect(columnsIn(recorded('csv', other))).rejects.toMatchObject({
      fault: 'missing',
      message: expect.stringContaining(text),
    });
});
