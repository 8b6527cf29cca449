import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config';
import { PgListener } from '../../../platform/kernel/wakeups/pg-listener';
import { WaitingPolls } from '../../../platform/kernel/wakeups/waiting-polls';

/** Lets the polls of nodes wait for a wake-up of their node. */
@Injectable()
export class NodeWakeUps extends WaitingPolls {
  constructor(listener: PgListener, { http }: Config) {
    super(listener, 'node', http.maxPolls);
  }
}
