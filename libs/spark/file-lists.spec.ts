import type { RunFile } from '../contracts/agent-protocol';
import { fileUri, givenFiles, isPlain, plainName } from './file-lists';

const fetched = (index: number, name: string): RunFile => ({ kind: 'fetched', index, name, uri: null });
const uri = (address: string): RunFile => ({ kind: 'uri', index: 9, name: 'x', uri: address });
const locate = (file: RunFile): string => file.uri ?? `/st/${file.index}/${file.name}`;
const given = (...files: RunFile[]) => givenFiles({ property: 'spark.files', option: '--files', files }, locate);

describe('givenFiles', () => {
  it('is the option for names that mean nothing to Spark', () => {
    const files = [fetched(1, 'a b%25+ü&=@.csv'), { ...fetched(2, 'e.zip'), alias: 'env' }, uri('s3a://b/*.csv')];
    expect(given(...files)).toEqual({
      argv: ['--files', '/st/1/a b%25+ü&=@.csv,/st/2/e.zip#env,s3a://b/*.csv'],
      javaOptions: [],
    });
    expect(given()).toEqual({ argv: [], javaOptions: [] });
  });

  it.each(['sales, 2024.csv', 'a#b', 'a*', 'a?', 'a[1]', 'a{1}', '10:00.csv'])(
    'is a system property, all of it, with a name like %s',
    (name) => {
      const { argv, javaOptions } = given(
        fetched(1, name),
        { ...fetched(2, "it's ü%.zip"), alias: 'env' },
        uri('s3a://b/c'),
      );
      expect(argv).toEqual([]);
      const [first = '', ...others] = javaOptions[0]?.replace('-Dspark.files=', '').split(',') ?? [];
      expect(first).toMatch(/^file:\/\/\/st\/1\/[\w.%]+$/);
      expect(new URL(first).pathname.split('/').map(decodeURIComponent).join('/')).toBe(`/st/1/${name}`);
      expect(others).toEqual(['file:///st/2/it%27s%20%C3%BC%25.zip#env', 's3a://b/c']);
    },
  );

  it('holds together where the launcher divides options', () => {
    expect(given(fetched(1, 'a,b'), uri('s3a://b/c "d\\')).javaOptions).toEqual([
      '"-Dspark.files=file:///st/1/a%2Cb,s3a://b/c \\"d\\\\"',
    ]);
  });

  it('refuses a pattern beside such a name', () => {
    expect(() => given(fetched(1, 'a,b'), uri('s3a://b/*.csv'))).toThrow(
      'The pattern s3a://b/*.csv cannot be beside the file "a,b" in one list.',
    );
  });
});

it('has plain names, and addresses of any', () => {
  expect(['a b.jar', plainName('a,b#c[1].jar')].map(isPlain)).toEqual([true, true]);
  expect(plainName('a,b#c[1].jar')).toBe('a_b_c_1_.jar');
  expect(fileUri('/x/\ud800/a(1)!')).toBe('file:///x/%EF%BF%BD/a%281%29%21');
});
