import { ComputeDriverError } from '../compute-driver';

/** Turns a fault of the file system that holds local nodes into an error that callers of a driver handle. */
export function asDriverError(cause: unknown, dir: string): ComputeDriverError {
  if (cause instanceof ComputeDriverError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new ComputeDriverError('LOCAL.DISK_FULL', `The disk that holds ${dir} is full.`, {
      kind: 'capacity',
      cause,
    });
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new ComputeDriverError('LOCAL.NOT_WRITABLE', `${dir} cannot be written (${code}).`, {
      kind: 'denied',
      cause,
    });
  return new ComputeDriverError('LOCAL.FAILED', `The local driver failed: ${message}`, { kind: 'transient', cause });
}
