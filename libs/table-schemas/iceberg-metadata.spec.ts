import { gzipSync } from 'node:zlib';
import { MemoryTableFiles } from '../../test/fakes/tables/memory-table-files';
import { typeSql } from './data-type';
import { readIcebergTable } from './iceberg-metadata';

const URI = 's3://bucket/t/metadata/00001.metadata.json';
const FIELDS = [
  { id: 1, name: 'a', required: true, type: 'int', doc: 'c' },
  {
    id: 2,
    name: 's',
    required: false,
    type: {
      type: 'struct',
      fields: [
        { id: 3, name: 'x', required: true, type: 'timestamp', doc: 'n' },
        { id: 4, name: 'l', required: false, type: { type: 'list', 'element-id': 5, element: 'fixed[16]' } },
        {
          id: 6,
          name: 'm',
          required: false,
          type: { type: 'map', 'key-id': 7, key: 'uuid', 'value-id': 8, value: 'decimal(10, 2)' },
        },
      ],
    },
  },
  { id: 9, name: 't', required: false, type: 'timestamptz' },
];
const METADATA = {
  'format-version': 2,
  location: 's3://bucket/t',
  'current-schema-id': 1,
  schemas: [
    { type: 'struct', 'schema-id': 0, fields: [] },
    { type: 'struct', 'schema-id': 1, fields: FIELDS },
  ],
  'default-spec-id': 3,
  'partition-specs': [
    { 'spec-id': 0, fields: [] },
    {
      'spec-id': 3,
      fields: [
        { 'source-id': 1, transform: 'bucket[4]', name: 'a_bucket' },
        { 'source-id': 1, transform: 'truncate[10]', name: 'a_trunc' },
        { 'source-id': 9, transform: 'void', name: 'gone' },
        { 'source-id': 9, transform: 'hour', name: 'h' },
        { 'source-id': 3, transform: 'year', name: 'y' },
        { 'source-id': 1, transform: 'identity', name: 'a' },
      ],
    },
  ],
  properties: { owner: 'anna', k: 'v' },
};

const read = (content: object | string | Buffer) => {
  const bytes = typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content);
  return readIcebergTable(URI, new MemoryTableFiles().put(URI, bytes), AbortSignal.timeout(60_000));
};

describe('readIcebergTable', () => {
  it.each([
    ['as it is', METADATA],
    ['in gzip', gzipSync(JSON.stringify(METADATA))],
  ])('reads a file %s', async (_how, content) => {
    const table = await read(content);
    expect(table.columns.map(({ name, type, nullable, comment }) => [name, typeSql(type), nullable, comment])).toEqual([
      ['a', 'int', false, 'c'],
      [
        's',
        "struct<`x`: timestamp_ntz NOT NULL COMMENT 'n', `l`: array<binary>, `m`: map<string,decimal(10,2)>>",
        true,
        null,
      ],
      ['t', 'timestamp', true, null],
    ]);
    expect(table.partitioning).toEqual([
      { transform: 'bucket', columns: [['a']], argument: 4 },
      { transform: 'truncate', columns: [['a']], argument: 10 },
      { transform: 'hours', columns: [['t']], argument: null },
      { transform: 'years', columns: [['s', 'x']], argument: null },
      { transform: 'identity', columns: [['a']], argument: null },
    ]);
    expect([table.location, table.properties]).toEqual([
      's3://bucket/t',
      { owner: 'anna', k: 'v', 'format-version': '2' },
    ]);
  });

  it('keeps unknown transforms, and transforms of several columns', async () => {
    const fields = [
      { 'source-id': 1, transform: 'zero', name: 'id_zero' },
      { 'source-ids': [1, 3], transform: 'bucket[16]', name: 'both' },
      { 'source-id': 1, transform: 'x); DROP', name: 'odd' },
    ];
    const table = await read({ ...METADATA, 'format-version': 3, 'partition-specs': [{ 'spec-id': 3, fields }] });
    expect(table.columns).toHaveLength(3);
    expect(table.partitioning).toEqual([
      { transform: 'zero', columns: [['a']], argument: null },
      { transform: 'bucket', columns: [['a'], ['s', 'x']], argument: 16 },
      { transform: 'x); DROP', columns: [['a']], argument: null },
    ]);
  });

  it('reads format version 1', async () => {
    const { schemas: _schemas, 'partition-specs': _specs, ...others } = METADATA;
    const table = await read({
      ...others,
      'format-version': 1,
      schema: { type: 'struct', fields: FIELDS },
      'partition-spec': [{ 'source-id': 1, transform: 'identity', name: 'a' }],
    });
    expect([table.columns.length, table.partitioning.length]).toEqual([3, 1]);
  });

  it.each<[string, object | string | Buffer, string]>([
    ['text that is not JSON', '{', 'malformed'],
    ['JSON that is not an object', '[]', 'malformed'],
    ['a later version', { ...METADATA, 'format-version': 4 }, 'unsupported'],
    ['a missing schema', { ...METADATA, 'current-schema-id': 7 }, 'malformed'],
    ['a missing spec', { ...METADATA, 'default-spec-id': 7 }, 'malformed'],
    ['bytes that unpack to gigabytes', gzipSync(Buffer.alloc(2 ** 25)), 'too-large'],
    ['a broken gzip file', gzipSync('{}').subarray(0, 15), 'malformed'],
    ['a file of any size', Buffer.alloc(2 ** 24 + 1), 'too-large'],
    [
      'types without end',
      `{"format-version":2,"schema":{"fields":[{"name":"a","type":${'{"type":"list","element":'.repeat(1e5)}1${'}'.repeat(1e5)}}]}}`,
      'too-large',
    ],
    [
      'a partition of nothing',
      { ...METADATA, 'partition-specs': [{ 'spec-id': 3, fields: [{ 'source-id': 77, transform: 'day' }] }] },
      'malformed',
    ],
  ])('refuses %s', async (_case, content, fault) => {
    await expect(read(content)).rejects.toMatchObject({ name: 'TableSchemaError', fault });
  });
});
