import { changedFields } from './field-changes';

describe('changedFields', () => {
  it('compares columns, maps and lists of properties by their keys', () => {
    const before = {
      name: 'sum',
      size: 5,
      enabled: true,
      labels: { team: 'data', stage: 'test' },
      settings: { driver_memory: '1g', conf: ['spark.a=1', 'spark.b=x=y'], files: ['a.py'], queue: null },
      to_date: Infinity,
    };
    const after = {
      name: 'sum',
      size: 6,
      enabled: false,
      labels: { team: 'data', owner: 'ada' },
      settings: { driver_memory: '2g', conf: ['spark.b=x=z', 'spark.a=1'], files: ['a.py', 'b.py'], queue: null },
      to_date: new Date('2026-01-31T10:00:00Z'),
    };
    expect(changedFields(before, after)).toEqual([
      { field: 'size', before: '5', after: '6' },
      { field: 'enabled', before: 'true', after: 'false' },
      { field: 'labels.stage', before: 'test', after: null },
      { field: 'settings.driver_memory', before: '1g', after: '2g' },
      { field: 'settings.conf.spark.b', before: 'x=y', after: 'x=z' },
      { field: 'settings.files', before: '["a.py"]', after: '["a.py","b.py"]' },
      { field: 'labels.owner', before: null, after: 'ada' },
      { field: 'to_date', before: null, after: '2026-01-31T10:00:00.000Z' },
    ]);
  });

  it('hides secrets, and still says that they changed', () => {
    const settings = (secret: string) => ({
      conf: [`spark.hadoop.fs.s3a.secret.key=${secret}`],
      arguments: `--rows 5 --password ${secret}`,
      extra_info: { tokens: [secret], endpoint: `https://ada:${secret}@example.org` },
      driver_java_options: `-Ddb.passwd=${secret}`,
    });
    const changes = changedFields({ settings: settings('first') }, { settings: settings('second') });
    expect(changes).toEqual([
      { field: 'settings.conf.spark.hadoop.fs.s3a.secret.key', before: '[secret]', after: '[secret]' },
      {
        field: 'settings.arguments',
        before: '--rows 5 --password [secret]',
        after: '--rows 5 --password [secret]',
      },
      { field: 'settings.extra_info.tokens', before: '[secret]', after: '[secret]' },
      {
        field: 'settings.extra_info.endpoint',
        before: 'https://ada:[secret]@example.org',
        after: 'https://ada:[secret]@example.org',
      },
      { field: 'settings.driver_java_options', before: '-Ddb.passwd=[secret]', after: '-Ddb.passwd=[secret]' },
    ]);
  });

  it('hides bytes, which are sealed', () => {
    expect(changedFields({ key: Buffer.from('first') }, { key: Buffer.from('second') })).toEqual([
      { field: 'key', before: '[secret]', after: '[secret]' },
    ]);
  });

  it('shows the id of credentials, which is no secret', () => {
    expect(changedFields({ credentials_conf_id: 1 }, { credentials_conf_id: 2 })).toEqual([
      { field: 'credentials_conf_id', before: '1', after: '2' },
    ]);
  });

  it('cuts long texts around their first difference', () => {
    const [change] = changedFields({ note: `${'a'.repeat(500)}b` }, { note: `${'a'.repeat(500)}c${'d'.repeat(300)}` });
    expect(change).toEqual({
      field: 'note',
      before: `…${'a'.repeat(40)}b`,
      after: `…${'a'.repeat(40)}c${'d'.repeat(159)}…`,
    });
  });

  it('keeps size and hash of texts that may be programs', () => {
    const [change] = changedFields({ script: 'export KEY=1\nrun' }, { script: 'x'.repeat(1_001) });
    expect(change).toEqual({
      field: 'script',
      before: expect.stringMatching(/^2 lines, 16 characters, SHA-256 [0-9a-f]{8}…$/),
      after: expect.stringMatching(/^1 line, 1001 characters, SHA-256 [0-9a-f]{8}…$/),
    });
  });

  it('has texts that a database can store', () => {
    const [change] = changedFields({ note: null }, { note: `${'n'.repeat(199)}\u{1f600}` });
    expect(change?.after).toBe(`${'n'.repeat(199)}\ufffd…`);
    const [long] = changedFields({}, { labels: { ['k'.repeat(200)]: 'v' } });
    expect(long?.field).toHaveLength(128);
  });
});
