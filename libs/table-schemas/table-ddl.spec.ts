import type { Table } from '../metastore-clients/metastore-client';
import { tableOfHive } from '../../test/fakes/tables/hive-table';
import { RECORDED } from '../../test/fakes/tables/recorded-hive-tables';
import { columnsOf } from './columns-of';
import { ddlOf } from './table-ddl';

const recorded = (name: keyof typeof RECORDED): Table => tableOfHive(RECORDED[name]);
const ddl = async (table: Table) => ddlOf(table, await columnsOf(table, null, AbortSignal.timeout(60_000)));

describe('ddlOf', () => {
  it('writes a data source table', async () => {
    expect(await ddl(recorded('spark'))).toBe(
      [
        'CREATE TABLE `default`.`spark` (',
        "  `a` int COMMENT 'c',",
        '  `v` varchar(5),',
        "  `nest` struct<`a`: struct<`b`: array<struct<`c`: int COMMENT 'deep'>>>>,",
        '  `d` int DEFAULT 5,',
        '  `p` string)',
        'USING `parquet`',
        'OPTIONS (',
        "  'compression' = 'gzip')",
        'PARTITIONED BY (`p`)',
        'CLUSTERED BY (`a`) SORTED BY (`v`) INTO 2 BUCKETS',
        "COMMENT 'tc'",
        'TBLPROPERTIES (',
        "  'k' = 'v')",
      ].join('\n'),
    );
  });

  it('writes an external table with its location', async () => {
    const text = await ddl(recorded('csv'));
    expect(text).toContain("`a b` int,\n  `ü` string)\nUSING `csv`\nOPTIONS (\n  'header' = 'true',\n  'sep' = '|')");
    expect(text).toMatch(/\nLOCATION 'file:\/data\/csv'$/);
  });

  it('writes a Hive table in Hive syntax', async () => {
    const table = recorded('text');
    const partitionColumns = [{ name: 'p', type: 'date', comment: 'day' }];
    const { [`spark.sql.sources.schema`]: _schema, ...properties } = table.properties;
    expect(await ddl({ ...table, partitionColumns, properties })).toBe(
      [
        'CREATE TABLE `default`.`text` (',
        '  `a` int,',
        '  `s` struct<`A`: int>)',
        'PARTITIONED BY (',
        "  `p` date COMMENT 'day')",
        "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe'",
        'WITH SERDEPROPERTIES (',
        "  'field.delim' = '|',",
        "  'serialization.format' = '|')",
        "STORED AS INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat'",
        "COMMENT 'n\\nl'",
      ].join('\n'),
    );
  });

  it('writes a view', async () => {
    expect(await ddl(recorded('view'))).toBe(
      "CREATE VIEW `default`.`view` (\n  `x` COMMENT 'xc',\n  `y`)\nCOMMENT 'vc'\nTBLPROPERTIES (\n  'k' = 'v')\nAS select a, B from hb",
    );
  });

  it('writes an unknown transform by its quoted name', async () => {
    const table = recorded('spark');
    const columns = await columnsOf(table, null, AbortSignal.timeout(60_000));
    const partitioning = [
      { transform: 'bucket', columns: [['a'], ['nest', 'a']], argument: 16 },
      { transform: 'x); DROP', columns: [['v']], argument: null },
    ];
    expect(ddlOf(table, { ...columns, partitioning })).toContain(
      '\nPARTITIONED BY (bucket(16, `a`, `nest`.`a`), `x); DROP`(`v`))\n',
    );
  });

  it('hides secrets', async () => {
    const serdeProperties = { url: 'jdbc:x://me:hunter2@host/db', dbtable: 't', PASSWORD: 'hunter2' };
    const properties = { ...recorded('csv').properties, 'fs.s3a.secret.key': 'hunter2' };
    const text = await ddl({ ...recorded('csv'), serdeProperties, properties });
    expect(text).not.toContain('hunter2');
    expect(text).toContain("'dbtable' = 't'");
  });

  const EVIL = "x'; DROP TABLE x; -- \\'; DROP TABLE x; --\n`; DROP TABLE x; --\0\\";

  it('lets no value end the statement', async () => {
    const table = recorded('spark');
    const text = await ddl({
      ...table,
      name: EVIL,
      comment: EVIL,
      serdeProperties: { [EVIL]: EVIL },
      tableType: 'EXTERNAL_TABLE',
      location: EVIL,
      properties: {
        ...table.properties,
        [EVIL]: EVIL,
        'spark.sql.sources.provider': EVIL,
        'spark.sql.sources.schema.partCol.0': EVIL,
        'spark.sql.sources.schema': JSON.stringify({
          type: 'struct',
          fields: [
            {
              name: EVIL,
              type: { type: 'struct', fields: [{ name: EVIL, type: 'int', metadata: { comment: EVIL } }] },
              metadata: { comment: EVIL },
            },
          ],
        }),
      },
    });
    expect(statements(text)).toBe(1);
    expect(text.match(/DROP TABLE/g)!.length).toBeGreaterThan(20);
  });

  it.each<[string, Partial<Table>]>([
    ['a type', { columns: [{ name: 'a', type: 'struct<x:int); DROP TABLE x; --', comment: null }] }],
    ['a type that Spark lacks', { columns: [{ name: 'a', type: 'uniontype<int>', comment: null }] }],
    ['a storage handler', { inputFormat: null, outputFormat: null }],
    ['a variable for a name', { name: '${env:HOME}' }],
  ])('refuses %s', async (_what, change) => {
    await expect(ddl({ ...recorded('text'), properties: {}, ...change })).rejects.toMatchObject({
      fault: 'unsupported',
    });
  });

  it('refuses a metric view, whose text is YAML', async () => {
    const table = { ...recorded('view'), tableType: 'METRIC_VIEW', viewText: 'version: 0.1\nsource: main.sales' };
    await expect(ddl(table)).rejects.toMatchObject({ fault: 'unsupported' });
  });

  it('refuses a view or a default that is more than one statement', async () => {
    await expect(ddl({ ...recorded('view'), viewText: 'SELECT 1; DROP TABLE x' })).rejects.toThrow(
      'not a single SQL statement',
    );
    const table = recorded('spark');
    const schema = table.properties['spark.sql.sources.schema']!.replace(
      '"CURRENT_DEFAULT":"5"',
      '"CURRENT_DEFAULT":"5); DROP TABLE x; --"',
    );
    const properties = { ...table.properties, 'spark.sql.sources.schema': schema };
    await expect(ddl({ ...table, properties })).rejects.toThrow('The default of `d` is not a single SQL expression');
  });
});

/** Counts statements by the rules of Spark's lexer, independently of the code under test. */
function statements(sql: string): number {
  const rest = sql.replace(/'(?:[^'\\]|\\[^])*'|`(?:[^`]|``)*`/g, '');
  expect(rest).not.toMatch(/['`\0]|--/);
  return rest.split(';').length;
}
