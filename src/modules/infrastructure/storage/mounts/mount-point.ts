import { invalid } from '../../../../platform/kernel/errors/domain-error';

/** Directories of the node's system: a mount in one of them would hide what jobs and their tools need. */
const SYSTEM_DIRECTORIES = [
  ...['bin', 'boot', 'dev', 'etc', 'lib', 'lib32', 'lib64', 'opt', 'proc', 'root', 'run', 'sbin', 'sys', 'tmp', 'usr'],
  'var',
] as const;

/** Other characters have a meaning in Hadoop paths, such as a pattern of many files. */
const NAME = /^[A-Za-z0-9._-]+$/;

/** Throws a 400 unless this is a normalized absolute path outside the system's directories. */
export function assertMountPoint(mountPoint: string): void {
  const [root, ...names] = mountPoint.split('/');
  if (root !== '' || names.length === 0 || names.some((name) => !NAME.test(name) || name === '.' || name === '..')) {
    throw invalid(
      'MOUNT.INVALID_MOUNT_POINT',
      'The mount point must be an absolute path such as /mnt/data: names of letters, digits, dots, hyphens and underscores ' +
        'separated by single slashes, none of them . or .., without a slash at its end.',
    );
  }
  const [first] = names;
  if (SYSTEM_DIRECTORIES.some((name) => name === first)) {
    throw invalid('MOUNT.INVALID_MOUNT_POINT', `The mount point is in /${first}, which belongs to the node's system.`);
  }
}
