import type { RunFile } from '../contracts/agent-protocol';
import { fileUri, fileArguments, isPlain, plainName } from './file-lists';

const fetched = (index: number, name: string): RunFile => ({ kind: 'fetched', index, name, uri: null });
const uri = (address: string): RunFile => ({ kind: 'uri', index: 9, name: 'x', uri: address });
const locate = (file: RunFile): string => file.uri ?? `/st/${file.index}/${file.name}`;
const fileArgs = (...files: RunFile[]) => fileArguments({ property: 'spark.files', option: '--files', files }, locate);

describe('fileArguments', () => {
  it('are the option if no name has special characters', () => {
    const files = [fetched(1, 'a b%25+ü&=@.csv'), { ...fetched(2, 'e.zip'), alias: 'env' }, uri('s3a://b/*.csv')];
    expect(fileArgs(...files)).toEqual({
      argv: ['--files', '/st/1/a b%25+ü&=@.csv,/st/2/e.zip#env,s3a://b/*.csv'],
      javaOptions: [],
    });
    expect(fileArgs()).toEqual({ argv: [], javaOptions: [] });
  });

  it.each(['sales, 2024.csv', 'a#b', 'a*', 'a?', 'a[1]', 'a{1}', '10:00.csv'])(
    'is a system property, all of it, with a name like %s',
    (name) => {
      const { argv, javaOptions } = fileArgs(
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

  it('quotes spaces and quotation marks for the launcher', () => {
    expect(fileArgs(fetched(1, 'a,b'), uri('s3a://b/c "d\\')).javaOptions).toEqual([
      '"-Dspark.files=file:///st/1/a%2Cb,s3a://b/c \\"d\\\\"',
    ]);
  });

  it('refuse a pattern in one list with such a name', () => {
    expect(() => fileArgs(fetched(1, 'a,b'), uri('s3a://b/*.csv'))).toThrow(
      'The pattern s3a://b/*.csv cannot be in one list with the file "a,b".',
    );
  });
});

it('makes plain names, and addresses of any name', () => {
  expect(['a b.jar', plainName('a,b#c[1].jar')].map(isPlain)).toEqual([true, true]);
  expect(plainName('a,b#c[1].jar')).toBe('a_b_c_1_.jar');
  expect(fileUri('/x/\ud800/a(1)!')).toBe('file:///x/%EF%BF%BD/a%281%29%21');
});
