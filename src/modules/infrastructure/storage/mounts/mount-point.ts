import { invalid } from '../../../../platform/kernel/errors/domain-error';

/** System directories of a node. A mount in one of them would hide files that jobs and tools need. */
const SYSTEM_DIRECTORIES = [
  ...['bin', 'boot', 'dev', 'etc', 'lib', 'lib32', 'lib64', 'opt', 'proc', 'root', 'run', 'sbin', 'sys', 'tmp', 'usr'],
  'var',
] as const;

/** Excludes characters with a special meaning in Hadoop paths, for example globs. */
const NAME = /^[A-Za-z0-9._-]+$/;

/** Throws 400 unless this is a normalized absolute path outside system directories. */
export function assertMountPoint(mountPoint: string): void {
  const [root, ...names] = mountPoint.split('/');
  if (root !== '' || names.length === 0 || names.some((name) => !NAME.test(name) || name === '.' || name === '..')) {
    throw invalid(
      'MOUNT.INVALID_MOUNT_POINT',
      'The mount point must be an absolute path such as /mnt/data: names of letters, digits, dots, hyphens and underscores ' +
        'separated by single slashes, none of them . or .., and no trailing slash.',
    );
  }
  const [first] = names;
  if (SYSTEM_DIRECTORIES.some((name) => name === first)) {
    throw invalid(
      'MOUNT.INVALID_MOUNT_POINT',
      `The mount point is in /${first}, which belongs to the node's system. Choose another directory, for example /mnt/data.`,
    );
  }
}
