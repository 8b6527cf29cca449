import { Injectable } from '@nestjs/common';
import { InstanceUse } from '../../runs';
import { isQuiet } from './kernels.repository';

/** Says which instances have idle kernels. */
@Injectable()
export class KernelInstanceUse extends InstanceUse {
  isIdle(run: string, time: string): string {
    return `EXISTS (SELECT 1 FROM kernels k WHERE k.run_id = ${run}.run_id AND ${isQuiet(time)})`;
  }
}
