import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryTableFiles } from '../../test/fakes/tables/memory-table-files';
import { readDeltaCheckpoint } from './delta-checkpoint';

const URI = 's3://bucket/t/_delta_log/00000000000000000001.checkpoint.parquet';
/** Written by Delta 3.3.2, for a table with a NOT NULL column and a partition column. */
const RECORDED = readFileSync(join(__dirname, '../../test/fixtures/delta-checkpoint.parquet'));

const read = (content: Buffer, signal = AbortSignal.timeout(60_000)) =>
  readDeltaCheckpoint(URI, new MemoryTableFiles().put(URI, content), signal);

/** Returns the recorded file with other bytes at an offset. */
function changed(at: number, ...bytes: number[]): Buffer {
  const copy = Buffer.from(RECORDED);
  copy.set(bytes, at);
  return copy;
}

describe('readDeltaCheckpoint', () => {
  it('finds the schema', async () => {
    const action = await read(RECORDED);
    expect(action).toMatchObject({ partitionColumns: ['p'], configuration: { k: 'v' } });
    expect(JSON.parse(action!['schemaString'] as string)).toMatchObject({
      fields: [
        { name: 'a', type: 'integer', nullable: false },
        { name: 'p', type: 'date' },
      ],
    });
  });

  const end = RECORDED.length;
  it.each<[string, Buffer]>([
    ['is empty', Buffer.alloc(0)],
    ['is not Parquet', Buffer.alloc(1000)],
    ['is cut off', RECORDED.subarray(0, -9)],
    ['has a footer larger than itself', changed(end - 8, 0xff, 0xff, 0xff, 0x7f)],
    ['has another footer', changed(end - 8, 0x10, 0, 0, 0)],
    [
      'is large and nothing',
      Buffer.concat([Buffer.alloc(2 ** 27), Buffer.from([0xff, 0xff, 0xff, 0x07]), Buffer.from('PAR1')]),
    ],
  ])('refuses a file that %s', async (_case, content) => {
    await expect(read(content)).rejects.toMatchObject({
      name: 'TableSchemaError',
      fault: expect.stringMatching(/malformed|too-large/),
    });
  });

  it('survives wrong bytes anywhere in the file', async () => {
    const outcomes = new Set<string>();
    for (let at = 4; at < end; at += Math.ceil(end / 8)) {
      const outcome = await read(changed(at, 0xff, 0xff, 0xff, 0x7f)).then(String, (error: Error) => error.name);
      outcomes.add(outcome);
    }
    expect(
      [...outcomes].filter((outcome) => !['TableSchemaError', '[object Object]', 'null'].includes(outcome)),
    ).toEqual([]);
    expect(outcomes).toContain('TableSchemaError');
  });

  it('survives a page that announces two billion values', async () => {
    await expect(read(bomb())).rejects.toMatchObject({
      fault: 'malformed',
      message: expect.stringContaining('memory'),
    });
  });

  it('ends with its signal, while it reads and while it waits for its turn', async () => {
    const files = new MemoryTableFiles().put(URI, RECORDED);
    jest.spyOn(files, 'readPart').mockReturnValue(new Promise<Buffer>(() => {}));
    const reason = new Error('enough');
    const calls = Array.from({ length: 4 }, () => {
      const controller = new AbortController();
      return { controller, call: readDeltaCheckpoint(URI, files, controller.signal) };
    });
    for (const { controller, call } of calls.reverse()) {
      setTimeout(() => controller.abort(reason), 50);
      await expect(call).rejects.toBe(reason);
    }
    await expect(read(RECORDED)).resolves.not.toBeNull();
  });
});

type Field = [id: number, type: keyof typeof TYPES, value: unknown];

const TYPES = { i32: 5, i64: 6, text: 8, list: 9, struct: 12 };

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];

function encoded(type: keyof typeof TYPES, value: unknown): number[] {
  if (type === 'struct') return struct(...(value as Field[]));
  if (type === 'text') return [...varint((value as string).length), ...Buffer.from(value as string)];
  if (type !== 'list') return varint((value as number) * 2);
  const [of, ...items] = value as [keyof typeof TYPES, ...unknown[]];
  return [items.length * 16 + TYPES[of], ...items.flatMap((item) => encoded(of, item))];
}

/** Encodes a struct in Thrift's compact protocol. */
function struct(...fields: Field[]): number[] {
  const bytes = fields.flatMap(([id, type, value], at) => [
    (id - (fields[at - 1]?.[0] ?? 0)) * 16 + TYPES[type],
    ...encoded(type, value),
  ]);
  return [...bytes, 0];
}

/** Returns a Parquet file with one column, `metaData.id`, of ten values, whose definition levels repeat endlessly. */
function bomb(): Buffer {
  const levels = [...varint(2 ** 32 - 2), 1];
  const page = [levels.length, 0, 0, 0, ...levels];
  const head = struct(
    [1, 'i32', 0],
    [2, 'i32', page.length],
    [3, 'i32', page.length],
    [
      5,
      'struct',
      [
        [1, 'i32', 10],
        [2, 'i32', 0],
        [3, 'i32', 3],
        [4, 'i32', 3],
      ],
    ],
  );
  const column: Field[] = [
    [1, 'i32', 6],
    [2, 'list', ['i32', 0]],
    [3, 'list', ['text', 'metaData', 'id']],
    [4, 'i32', 0],
    [5, 'i64', 10],
    [6, 'i64', head.length + page.length],
    [7, 'i64', head.length + page.length],
    [9, 'i64', 4],
  ];
  const footer = struct(
    [1, 'i32', 1],
    [
      2,
      'list',
      [
        'struct',
        [
          [4, 'text', 'root'],
          [5, 'i32', 1],
        ],
        [
          [3, 'i32', 1],
          [4, 'text', 'metaData'],
          [5, 'i32', 1],
        ],
        [
          [1, 'i32', 6],
          [3, 'i32', 1],
          [4, 'text', 'id'],
        ],
      ],
    ],
    [3, 'i64', 10],
    [
      4,
      'list',
      [
        'struct',
        [
          [
            1,
            'list',
            [
              'struct',
              [
                [2, 'i64', 4],
                [3, 'struct', column],
              ],
            ],
          ],
          [2, 'i64', 9],
          [3, 'i64', 10],
        ],
      ],
    ],
  );
  const size = Buffer.alloc(4);
  size.writeUInt32LE(footer.length);
  const magic = Buffer.from('PAR1');
  return Buffer.concat([magic, Buffer.from([...head, ...page, ...footer]), size, magic]);
}
