import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../../../../config/config';
import { LOGGER, type Logger } from '../../../../platform/logging/logger';
import { type AgedRows, AgedRowSweep } from '../../../../platform/persistence/aged-rows';
import type { Reconciler } from '../../../../platform/workflows/reconcile-loop';

/** One for each way to end, so that each has an index. */
const SOURCES: readonly AgedRows[] = ['expires_at', 'revoked_at'].map((endedAt) => ({
  table: 'sessions',
  key: 'session_id',
  ended: `SELECT session_id FROM sessions
          WHERE kind = 'login' AND ${endedAt} < now() - $1 * interval '1 day' ORDER BY ${endedAt}`,
}));

/** Removes logins that ended long ago. Personal tokens stay: their users see the ended ones, too. */
@Injectable()
export class SessionSweeper implements Reconciler {
  readonly name = 'sessions';
  private readonly sweep: AgedRowSweep;

  constructor(
    dataSource: DataSource,
    config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.sweep = new AgedRowSweep(dataSource, config.worker.endedRowsKeptDays, SOURCES);
  }

  async reconcile(signal: AbortSignal): Promise<void> {
    const removed = await this.sweep.run(signal);
    if (removed > 0) this.logger.info({ removed }, 'Removed logins that ended long ago');
  }
}
