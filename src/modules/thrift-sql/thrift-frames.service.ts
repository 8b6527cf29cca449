import { Injectable } from '@nestjs/common';
import { ReadyFrames } from '../run-channels/ready-frames.contract';

/** Takes in that SQL is served. */
@Injectable()
export class ThriftFramesService extends ReadyFrames {
  readonly jobType = 'THRIFT_SQL';
  protected readonly reason = 'SQL is served';
}
