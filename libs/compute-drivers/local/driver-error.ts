import { ComputeDriverError } from '../compute-driver';

/** Converts a file system error of the folder of local nodes into a driver error. */
export function asDriverError(cause: unknown, dir: string): ComputeDriverError {
  if (cause instanceof ComputeDriverError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new ComputeDriverError('LOCAL.DISK_FULL', `The disk that holds ${dir} is full. Free some space on it.`, {
      kind: 'capacity',
      cause,
    });
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new ComputeDriverError('LOCAL.NOT_WRITABLE', `${dir} is not writable (${code}). Give the worker access.`, {
      kind: 'denied',
      cause,
    });
  return new ComputeDriverError('LOCAL.FAILED', `The local driver failed: ${message}`, { kind: 'transient', cause });
}
