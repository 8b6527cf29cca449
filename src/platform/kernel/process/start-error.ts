/** Why a process cannot start, in words for whoever runs it; needs no stack. */
export class StartError extends Error {
  constructor(
    readonly code: string,
    message: string,
    /** What to do about it, and the variable that it is about, if there is one. */
    readonly help: { remedy: string; variable?: string },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'StartError';
  }
}

/** Why a process cannot listen; any other error stays as it is. */
export function listenError(
  cause: unknown,
  { host, port, variable }: { host: string; port: number; variable: string },
): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') return cause;
  const message = `The process cannot listen at ${host}:${port} (${code}).`;
  const remedy = `End what listens there, or name another port in ${variable} or another address in HOST.`;
  return new StartError('LISTEN.REFUSED', message, { variable, remedy }, { cause });
}
