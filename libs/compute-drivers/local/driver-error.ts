import { ComputeDriverError } from '../compute-driver';

/** What a fault of the folder of local nodes means for whoever asked for something in it. */
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
