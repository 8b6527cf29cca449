import { Injectable } from '@nestjs/common';
import { AgedRowSweeper } from '../../../../platform/workflows/aged-row-sweeper';

/** Removes logins that ended long ago. Personal tokens stay: their users see the ended ones, too. */
@Injectable()
export class SessionSweeper extends AgedRowSweeper {
  readonly name = 'sessions';
  /** One for each way to end, so that each has an index. */
  protected readonly sources = ['expires_at', 'revoked_at'].map((endedAt) => ({
    table: 'sessions',
    key: 'session_id',
    ended: `SELECT session_id FROM sessions
            WHERE kind = 'login' AND ${endedAt} < platform_now() - $1 * interval '1 day' ORDER BY ${endedAt}`,
  }));
}
