import { Injectable } from '@nestjs/common';
import { AgedRowSweeper } from '../../../../platform/workflows/aged-row-sweeper';
import { ENDED_LOGINS } from '../sessions.repository';

/** Removes logins that ended long ago. Personal tokens stay: their users see the ended ones, too. */
@Injectable()
export class SessionSweeper extends AgedRowSweeper {
  readonly name = 'sessions';
  protected readonly sources = ENDED_LOGINS;
}
