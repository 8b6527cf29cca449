import { MemoryTableFiles } from '../../test/fakes/tables/memory-table-files';
import { readDeltaTable } from './delta-log';

const LOG = 's3://bucket/t/_delta_log';
const name = (version: number) => `${LOG}/${String(version).padStart(20, '0')}.json`;
const schema = (...columns: string[]) =>
  JSON.stringify({
    type: 'struct',
    fields: columns.map((column) => ({ name: column, type: 'integer', nullable: false })),
  });
const metaData = (column: string, more: object = {}) =>
  JSON.stringify({
    metaData: { id: '1', schemaString: schema(column), partitionColumns: [], configuration: {}, ...more },
  });
const OTHER = JSON.stringify({ add: { path: 'a"metaData".parquet' } });

const read = async (files: MemoryTableFiles) => readDeltaTable('s3://bucket/t/', files, AbortSignal.timeout(60_000));
const columns = async (files: MemoryTableFiles) => (await read(files)).columns.map((column) => column.name);
const hint = (files: MemoryTableFiles, content: object | string) =>
  files.put(`${LOG}/_last_checkpoint`, typeof content === 'string' ? content : JSON.stringify(content));
const start = (version: number) => `${LOG}/${String(version).padStart(20, '0')}.checkpoint`;

describe('readDeltaTable', () => {
  it('returns the metadata of the newest commit that has any', async () => {
    const files = new MemoryTableFiles();
    files.put(name(0), `${metaData('old')}\n`);
    const more = { partitionColumns: ['p'], configuration: { k: 'v', bad: 1 }, description: 'd' };
    files.put(name(1), `${OTHER}\n${metaData('new', more)}\n${OTHER}\n`).put(name(2), OTHER);
    expect(await read(files)).toMatchObject({
      columns: [{ name: 'new', nullable: false }],
      partitionColumns: ['p'],
      configuration: { k: 'v' },
      description: 'd',
    });
  });

  it('reads on from the last checkpoint without listing the log', async () => {
    const files = hint(new MemoryTableFiles(), { version: 7 });
    for (let version = 8; version < 20; version += 1) files.put(name(version), OTHER);
    files.put(name(12), metaData('first')).put(name(17), metaData('second')).put(name(3), metaData('older'));
    const list = jest.spyOn(files, 'list');
    expect(await columns(files)).toEqual(['second']);
    expect(list).not.toHaveBeenCalled();
  });

  it.each<[string, object | string]>([
    ['too old', { version: 1 }],
    ['in the future', { version: 5_000_000 }],
    ['negative', { version: -1 }],
    ['too large for a version', { version: 1e300 }],
    ['a text', { version: '3' }],
    ['not JSON', '{'],
    ['elsewhere', { version: 2, v2Checkpoint: { path: '../../../other/_delta_log/0.json' } }],
    ['of a billion parts', { version: 2, parts: 1e9 }],
  ])('lists the log if the hint is %s', async (_case, content) => {
    const files = hint(new MemoryTableFiles(), content);
    files
      .put(name(5), metaData('five'))
      .put(name(6), OTHER)
      .put(`${start(4)}.ab-c.json`, metaData('four'));
    expect(await columns(files)).toEqual(['five']);
  });

  it('reads a checkpoint in JSON, hinted or listed', async () => {
    const path = `${start(4)}.ab-c.json`;
    const files = new MemoryTableFiles().put(path, `${OTHER}\n${metaData('four')}`).put(name(5), OTHER);
    files.put(name(4), metaData('covered')).put(`${start(6)}.0000000001.0000000002.parquet`, 'half of it');
    expect(await columns(files)).toEqual(['four']);
    hint(files, { version: 4, v2Checkpoint: { path: path.slice(LOG.length + 1) } });
    const list = jest.spyOn(files, 'list');
    expect(await columns(files)).toEqual(['four']);
    expect(list).not.toHaveBeenCalled();
  });

  const many = (count: number) => {
    const files = new MemoryTableFiles();
    for (let version = 0; version < count; version += 1) files.put(name(version), OTHER);
    return files;
  };
  it.each<[string, () => MemoryTableFiles, string]>([
    ['nothing', () => new MemoryTableFiles(), 'missing'],
    ['a million files', () => many(100_001), 'too-large'],
    ['thousands of commits', () => many(1001), 'too-large'],
    ['a gap', () => new MemoryTableFiles().put(name(0), metaData('a')).put(name(2), OTHER), 'malformed'],
    ['a commit without end', () => new MemoryTableFiles().put(name(0), Buffer.alloc(2 ** 25 + 1)), 'too-large'],
    [
      'a line without end',
      () => new MemoryTableFiles().put(name(0), `{"metaData":${' '.repeat(2 ** 24)}`),
      'too-large',
    ],
    ['a line that is not JSON', () => new MemoryTableFiles().put(name(0), '{"metaData":'), 'malformed'],
    ['no schema', () => new MemoryTableFiles().put(name(0), '{"metaData":{}}'), 'malformed'],
    [
      'a schema of another kind',
      () => new MemoryTableFiles().put(name(0), metaData('a', { schemaString: '[]' })),
      'malformed',
    ],
    [
      'a partition without name',
      () => new MemoryTableFiles().put(name(0), metaData('a', { partitionColumns: [1] })),
      'malformed',
    ],
  ])('refuses a log with %s', async (_case, filesOf, fault) => {
    await expect(read(filesOf())).rejects.toMatchObject({ name: 'TableSchemaError', fault });
  });

  it('stops reading a log that never ends', async () => {
    const files = hint(new MemoryTableFiles(), { version: 3 });
    jest
      .spyOn(files, 'read')
      .mockImplementation(async (uri) => Buffer.from(uri.endsWith('point') ? '{"version":3}' : OTHER));
    await expect(read(files)).rejects.toMatchObject({ fault: 'missing' });
    expect(files.read).toHaveBeenCalledTimes(1001);
  });
});
