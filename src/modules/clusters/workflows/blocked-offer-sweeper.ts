import { Injectable } from '@nestjs/common';
import { AgedRowSweeper } from '../../../platform/workflows/aged-row-sweeper';
import { AGED_OFFERS } from './blocked-offers.repository';

/** Removes offers that are blocked no more. */
@Injectable()
export class BlockedOfferSweeper extends AgedRowSweeper {
  readonly name = 'blocked-offers';
  protected readonly sources = AGED_OFFERS;

  protected override get keptDays(): number {
    return 0;
  }
}
