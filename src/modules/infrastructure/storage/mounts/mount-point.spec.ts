import { assertMountPoint } from './mount-point';

describe('a mount point', () => {
  it.each(['/mnt/data', '/data', '/srv/a/b_c/d-1.2', '/tmpfiles/x', '/home/me/data'])('may be %s', (mountPoint) => {
    expect(() => assertMountPoint(mountPoint)).not.toThrow();
  });

  it.each([
    '/',
    '',
    'mnt/data',
    '/mnt/data/',
    '/mnt//data',
    '/mnt/./data',
    '/mnt/..',
    '/mnt/a b',
    '/mnt/{a,b}',
    '/mnt/*',
  ])('cannot be %j', (mountPoint) => {
    expect(() => assertMountPoint(mountPoint)).toThrow(/must be an absolute path such as \/mnt\/data/);
  });

  it.each(['/tmp', '/tmp/data', '/usr/lib', '/proc/1', '/lib64', '/var/data'])(
    'cannot be in the system directory of %s',
    (mountPoint) => {
      expect(() => assertMountPoint(mountPoint)).toThrow(
        expect.objectContaining({
          kind: 'invalid',
          code: 'MOUNT.INVALID_MOUNT_POINT',
          message: expect.stringContaining("belongs to the node's system"),
        }),
      );
    },
  );
});
