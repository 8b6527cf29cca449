import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config';
import { PgListener } from '../../../platform/kernel/notifications/pg-listener';
import { LongPolls } from '../../../platform/kernel/notifications/long-polls';

/** Lets the long polls of nodes wait for notifications about their node. */
@Injectable()
export class NodeNotifications extends LongPolls {
  constructor(listener: PgListener, { http }: Config) {
    super(listener, 'node', http.maxPolls);
  }
}
