import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config';
import { PgListener } from '../../../../platform/kernel/notifications/pg-listener';
import { WaitingPolls } from '../../../../platform/kernel/notifications/waiting-polls';

/** Lets the polls of a run's node wait for requests to the run's process. */
@Injectable()
export class RequestNotifications extends WaitingPolls {
  constructor(listener: PgListener, { http }: Config) {
    super(listener, 'run_requests', http.maxPolls);
  }
}
