/** A process cannot start for a reason that its operator can fix, so the log has no stack. */
export class StartError extends Error {
  constructor(
    readonly code: string,
    message: string,
    /** The remedy, and the environment variable that causes the error, if any. */
    readonly help: { remedy: string; variable?: string },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'StartError';
  }
}

/** Converts an error of `listen` to a StartError. Returns any other error unchanged. */
export function listenError(
  cause: unknown,
  { host, port, variable }: { host: string; port: number; variable: string },
): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') return cause;
  const message = `The process cannot listen on ${host}:${port} (${code}).`;
  const remedy = `Stop the process that listens there, or set another port in ${variable} or another address in HOST.`;
  return new StartError('LISTEN.REFUSED', message, { variable, remedy }, { cause });
}
