import { Injectable } from '@nestjs/common';
import { ReadyFrames } from '../channels/ready-frames';

/** Takes in that a function can be called. */
@Injectable()
export class FunctionFramesService extends ReadyFrames {
  readonly jobType = 'PLATFORM_FUNCTIONS';
  protected readonly reason = 'The function can be called';
}
