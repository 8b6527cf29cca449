import { assertPath, compareKeys, decodePosition, directoriesAbove, encodePosition, isPath } from './store-paths';

describe('paths of a store', () => {
  it.each(['a', 'a/b', 'a b', '.a', 'a.', '...', 'ü/🎉', 'x'.repeat(1023)])('accept %j', (path) => {
    expect(isPath(path)).toBe(true);
    expect(() => assertPath(path)).not.toThrow();
  });

  it.each(['', '/', '/a', 'a/', 'a//b', '.', '..', 'a/../b', 'a/.', 'a\tb', 'a\u007f', '\udc00', 'ü'.repeat(512)])(
    'refuse %j',
    (path) => {
      expect(() => assertPath(path)).toThrow('A path must consist of names');
    },
  );

  it('sort by bytes, directories with their slash', () => {
    const keys = ['a/', 'a0', 'a.txt', 'a-b', 'ä', 'b', '\uffff', '🎉'];
    expect([...keys].sort(compareKeys)).toEqual(['a-b', 'a.txt', 'a/', 'a0', 'b', 'ä', '\uffff', '🎉']);
  });

  it('imply the directories above a key', () => {
    expect(directoriesAbove('a/b/c.txt', '')).toEqual(['a/', 'a/b/']);
    expect(directoriesAbove('a/b/c.txt', 'a/')).toEqual(['a/b/']);
    expect(directoriesAbove('a/b/', '')).toEqual(['a/']);
    expect(directoriesAbove('a', '')).toEqual([]);
  });
});

describe('the token of a list', () => {
  it('is decoded to the position it was made from', () => {
    const position = { token: 'x/ü=', last: 'a/b', isRest: true };
    expect(decodePosition(encodePosition(position))).toEqual(position);
    expect(decodePosition(null)).toEqual({ token: null, last: null, isRest: false });
  });

  it.each(['', '%', 'bm8', Buffer.from('[1,2,3]').toString('base64url'), Buffer.from('{}').toString('base64url')])(
    'is not %j',
    (text) => {
      expect(() => decodePosition(text)).toThrow('does not come from an earlier page');
    },
  );
});
