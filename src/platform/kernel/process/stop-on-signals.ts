import type { INestApplicationContext } from '@nestjs/common';
import type { Logger } from '../logging/logger';

/**
 * Closes the application on SIGTERM and SIGINT: it accepts no new work, finishes running work within the deadline, and
 * exits.
 * @param before stops work that must end before the application's providers do
 */
export function stopOnSignals(
  app: INestApplicationContext,
  deadlineMs: number,
  logger: Logger,
  before: () => Promise<void> = () => Promise.resolve(),
): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'Stopping');
    setTimeout(() => {
      logger.warn('The process exits before its work has ended: the shutdown deadline has passed');
      process.exit(0);
    }, deadlineMs).unref();
    void before()
      .then(() => app.close())
      .catch((error: unknown) => logger.error({ err: error }, 'The shutdown failed'))
      .finally(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
