import { ConfigurationError } from '../../../config/env-reader';
import { createLogger } from '../logging/logger';
import { StartError } from './start-error';

/** Ends a command with status 1 and writes the reason to stderr, without a stack if the user can fix the cause. */
export function failProcess(error: unknown): never {
  process.stderr.write(`${textOf(error)}\n`);
  process.exit(1);
}

function textOf(error: unknown): string {
  if (error instanceof StartError) return `${error.message} ${error.help.remedy}`;
  if (error instanceof ConfigurationError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Ends a service with status 1. The last line of its log is the reason. */
export function failService(service: string): (error: unknown) => never {
  return (error) => {
    const logger = createLogger(service, 'fatal');
    if (error instanceof StartError) logger.fatal({ code: error.code, ...error.help }, error.message);
    else if (error instanceof ConfigurationError) {
      logger.fatal({ code: 'CONFIGURATION.NOT_USABLE', problems: error.problems }, error.message);
    } else logger.fatal({ code: 'START.FAILED', err: error }, 'The process cannot start');
    process.exit(1);
  };
}
