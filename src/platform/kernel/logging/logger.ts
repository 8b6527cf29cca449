import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import { HIDDEN } from '../../../../libs/redaction/redaction';
import { correlationId } from '../context/request-context';

/** Injection token of the process's logger. */
export const LOGGER = Symbol('LOGGER');

export type Logger = pino.Logger;

/** Returns the options of all loggers. Values under names of secrets are censored. */
export function loggerOptions(service: string, level: string): pino.LoggerOptions {
  return {
    level,
    base: { service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    mixin: () => ({ correlation_id: correlationId() }),
    redact: {
      paths: ['*.password', '*.token', '*.encoded', '*.credentials', 'headers.authorization', 'headers.cookie'],
      censor: HIDDEN,
    },
  };
}

let output: pino.DestinationStream | undefined;

/**
 * Returns the stream to standard output, which all loggers of the process share: each stream flushes ten times a second, whether
 * or not there are lines.
 */
function standardOutput(): pino.DestinationStream {
  // Lines are written asynchronously, within a tenth of a second, and in full when the process ends.
  return (output ??= pino.destination({ sync: false, minLength: 4096, periodicFlush: 100 }));
}

/** Creates a logger of JSON lines with the correlation id of the request or job. */
export function createLogger(service: string, level: string): Logger {
  return pino(loggerOptions(service, level), standardOutput());
}

/** Sends the messages of Nest to the same stream. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, context?: string): void {
    this.logger.debug({ context }, String(message));
  }

  warn(message: unknown, context?: string): void {
    this.logger.warn({ context }, String(message));
  }

  error(message: unknown, stack?: string, context?: string): void {
    this.logger.error({ context, stack }, String(message));
  }

  debug(message: unknown, context?: string): void {
    this.logger.debug({ context }, String(message));
  }

  verbose(message: unknown, context?: string): void {
    this.logger.trace({ context }, String(message));
  }
}
