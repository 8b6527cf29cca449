import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config';
import { PgListener } from '../../../../platform/kernel/notifications/pg-listener';
import { LongPolls } from '../../../../platform/kernel/notifications/long-polls';

/** Lets a node's long poll wait for a request to the process of a run. */
@Injectable()
export class RequestNotifications extends LongPolls {
  constructor(listener: PgListener, { http }: Config) {
    super(listener, 'run_requests', http.maxPolls);
  }
}
