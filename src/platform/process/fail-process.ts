import { ConfigurationError } from '../../config/env-reader';

/** Ends the process with status 1 and the reason on stderr; a configuration error needs no stack. */
export function failProcess(error: unknown): never {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${error instanceof ConfigurationError ? error.message : reason}\n`);
  process.exit(1);
}
