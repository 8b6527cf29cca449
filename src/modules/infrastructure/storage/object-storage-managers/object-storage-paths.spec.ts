import { destinationOf, fullPathOf, pathOf } from './object-storage-paths';

const ROOT = 'file:///platform/object-storage-manager/';

describe('destinationOf', () => {
  it.each([
    ['a.py', undefined, 'a.py'],
    ['sub/a.py', 'dir', 'dir/sub/a.py'],
    ['a.py', 'dir/', 'dir/a.py'],
    ['a.py', '/', 'a.py'],
    ['a.py', '', 'a.py'],
    ['/a.py', undefined, 'a.py'],
    ['/a.py', '/dir', 'dir/a.py'],
    ['/sub/a.py', '/dir/', 'dir/sub/a.py'],
    [`${ROOT}/a.py`, `${ROOT}/dir`, 'dir/a.py'],
    ['a.py', `${ROOT}dir`, 'dir/a.py'],
    [`${ROOT}dir/a.py`, undefined, 'dir/a.py'],
    ['ünïcode 文件?#%.py', undefined, 'ünïcode 文件?#%.py'],
  ])('%s in %s is %s', (path, directory, expected) => {
    expect(destinationOf(path, directory, false)).toBe(expected);
  });

  it('allows a trailing slash for directories only', () => {
    expect(destinationOf('dir/', undefined, true)).toBe('dir');
    expect(destinationOf('/dir/', '/', true)).toBe('dir');
    expect(() => destinationOf('dir/', undefined, false)).toThrow('must not contain empty names');
    expect(() => destinationOf('/', 'dir', true)).toThrow('must not contain empty names');
  });

  it.each([
    ...[
      '//a',
      '/',
      '/..',
      '/../a',
      '..',
      'a/../b',
      './a',
      'a//b',
      '/a//b',
      '',
      ' ',
      'a\\b',
      'a\u0000',
      'a\u007f',
      '\ud800',
    ],
    ...['x'.repeat(1024), 'é'.repeat(512)],
  ])('refuses a path (%#)', (path) => {
    expect(() => destinationOf(path, undefined, false)).toThrow(expect.objectContaining({ code: 'FILE.INVALID_PATH' }));
  });

  it.each(['..', '/..', '//dir', '//', 'b//c', 'x'.repeat(1022)])('refuses a directory (%#)', (directory) => {
    expect(() => destinationOf('a', directory, false)).toThrow(expect.objectContaining({ code: 'FILE.INVALID_PATH' }));
  });

  it('accepts a path of the maximum length', () => {
    expect(destinationOf('x'.repeat(1023), undefined, false)).toHaveLength(1023);
  });
});

describe('pathOf', () => {
  it.each([
    ['', ''],
    ['/', ''],
    [ROOT, ''],
    ['dir/', 'dir'],
    ['/dir/', 'dir'],
    ['/dir/a.py', 'dir/a.py'],
    [`${ROOT}/a.py`, 'a.py'],
    ['a\\b', 'a\\b'],
    [`${ROOT.toUpperCase()}a`, 'a'],
  ])('%j is %j', (requested, expected) => {
    expect(pathOf(requested)).toBe(expected);
  });

  it.each(['//a', 'a//b', '/a//b', '//', '///'])('refuses %j', (requested) => {
    expect(() => pathOf(requested)).toThrow();
  });

  it('accepts the full path from a response', () => {
    expect(pathOf(fullPathOf('dir/a.py'))).toBe('dir/a.py');
  });
});
