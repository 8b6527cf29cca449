import { Injectable } from '@nestjs/common';
import { AgedRowSweeper } from '../../../../platform/workflows/aged-row-sweeper';
import { ENDED_SESSIONS } from '../sessions.repository';

/** Removes logins and personal tokens that ended long ago; until then users see their ended tokens, too. */
@Injectable()
export class SessionSweeper extends AgedRowSweeper {
  readonly name = 'sessions';
  protected readonly sources = ENDED_SESSIONS;
}
