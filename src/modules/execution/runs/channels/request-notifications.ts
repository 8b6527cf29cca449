import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config';
import { PgListener } from '../../../../platform/kernel/notifications/pg-listener';
import { LongPolls } from '../../../../platform/kernel/notifications/long-polls';

/** Lets the polls of a run's node wait for requests to the run's process. */
@Injectable()
export class RequestNotifications extends LongPolls {
  constructor(listener: PgListener, { http }: Config) {
    super(listener, 'run_requests', http.maxPolls);
  }
}
