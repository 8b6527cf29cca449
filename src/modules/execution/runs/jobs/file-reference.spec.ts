import { assertOneFile, assertReachable, parseFileReference } from './file-reference';

describe('parseFileReference', () => {
  it.each([
    ['jobs/main.py', { kind: 'workspace', path: 'jobs/main.py' }],
    ['/jobs/main.py', { kind: 'workspace', path: 'jobs/main.py' }],
    ['s3a://bucket/main.py', { kind: 'uri', uri: 's3a://bucket/main.py' }],
    ['local:/opt/main.py', { kind: 'uri', uri: 'local:/opt/main.py' }],
    ['file:///opt/main.py', { kind: 'uri', uri: 'file:///opt/main.py' }],
    ['file:///platform/object-storage-manager/a b/%20.py', { kind: 'object-storage', path: 'a b/%20.py' }],
    ['FILE:///PLATFORM/Object-Storage-Manager/Main.py', { kind: 'object-storage', path: 'Main.py' }],
    ['file:///platform/other/main.py', { kind: 'uri', uri: 'file:///platform/other/main.py' }],
  ])('reads %s', (text, expected) => {
    expect(parseFileReference(text)).toEqual(expected);
  });
});

describe('assertReachable', () => {
  const files = ['main.py', 'file:///platform/object-storage-manager/lib.jar'];

  it('accepts files of an object storage manager only if the cluster has one', () => {
    expect(() => assertReachable(files, true)).not.toThrow();
    expect(() => assertReachable(files.slice(0, 1), false)).not.toThrow();
  });

  it('names the unreachable file', () => {
    expect(() => assertReachable(files, false)).toThrow('lib.jar" is in an object storage manager');
  });
});

describe('assertOneFile', () => {
  it('accepts a comma only in files that the platform fetches', () => {
    for (const text of ['a, b.csv', '/a,b.jar', 'file:///platform/object-storage-manager/a,b.csv', 's3a://b/a.csv'])
      expect(() => assertOneFile(text)).not.toThrow();
    expect(() => assertOneFile('s3a://b/a,b.csv')).toThrow('"s3a://b/a,b.csv" has a comma');
  });
});
