import { ancestorsOf, fileType, nameOf, normalizePath, parentOf } from './file-path';

describe('normalizePath', () => {
  it.each([
    ['a.py', undefined, 'a.py'],
    ['/a.py', undefined, 'a.py'],
    ['dir//sub/a.py', undefined, 'dir/sub/a.py'],
    ['a.py', 'dir/', 'dir/a.py'],
    ['ünïcode name.py', undefined, 'ünïcode name.py'],
  ])('%s in %s is %s', (path, directory, expected) => {
    expect(normalizePath(path, directory)).toBe(expected);
  });

  it.each([
    '../a',
    'a/../b',
    '.',
    'a/./b',
    '',
    '/',
    'a\u0000b',
    'a\nb',
    'a\\b',
    'a/ /b',
    'x'.repeat(256),
    'd/'.repeat(600),
  ])('refuses %j', (path) => {
    expect(() => normalizePath(path)).toThrow();
  });

  it('refuses a directory that leaves the workspace', () => {
    expect(() => normalizePath('a', '../other')).toThrow();
  });
});

describe('parts of a path', () => {
  it('are parent, name, ancestors and type', () => {
    expect([parentOf('a/b/c.tar.gz'), nameOf('a/b/c.tar.gz'), ancestorsOf('a/b/c')]).toEqual([
      'a/b',
      'c.tar.gz',
      ['a', 'a/b'],
    ]);
    expect([parentOf('a'), nameOf('a'), ancestorsOf('a')]).toEqual(['', 'a', []]);
    expect([fileType('a.PY'), fileType('.hidden'), fileType('plain'), fileType('dot.')]).toEqual([
      'py',
      null,
      null,
      null,
    ]);
  });
});
