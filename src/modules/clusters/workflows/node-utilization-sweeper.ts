import { Injectable } from '@nestjs/common';
import { AgedRowSweeper } from '../../../platform/workflows/aged-row-sweeper';
import { AGED_UTILIZATION } from '../node-utilization.repository';

/** No longer period is shown. */
const KEPT_DAYS = 1;

/** Removes what nodes used that are gone, or stopped: those that go on replace their own. */
@Injectable()
export class NodeUtilizationSweeper extends AgedRowSweeper {
  readonly name = 'node-utilization';
  protected readonly sources = AGED_UTILIZATION;

  protected override get keptDays(): number {
    return KEPT_DAYS;
  }
}
