import { secretValues } from './run-secrets';

describe('the values masked in the logs of a run', () => {
  it.each<[string, Parameters<typeof secretValues>[0], string[]]>([
    [
      'the values of its secrets, each once',
      { secrets: { env: { A: 'one', B: 'two' }, conf: { c: 'one' } } },
      ['one', 'two'],
    ],
    [
      'the token of its metastore',
      { metastore: { kind: 'unity', endpoint: 'https://unity', token: 'hush', catalogs: ['main'] } },
      ['hush'],
    ],
    [
      'the secret key of its metastore',
      { metastore: { kind: 'glue', region: 'eu-west-1', access_key_id: 'id', secret_access_key: 'hush' } },
      ['hush'],
    ],
    [
      'the keys of stores of its metastore, and not what else it has',
      {
        metastore: {
          kind: 'hive',
          properties: {
            'hive.metastore.uris': 'thrift://host:1',
            'fs.s3a.access.key': 'id',
            'fs.s3a.secret.key': 'hush',
          },
        },
      },
      ['hush'],
    ],
    ['nothing of a run without', {}, []],
  ])('is %s', (_what, spec, values) => {
    expect(secretValues(spec)).toEqual(values);
  });
});
