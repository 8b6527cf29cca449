import { Injectable } from '@nestjs/common';
import { unauthenticated } from '../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { ActiveTenantsRepository } from './active-tenants.repository';

/** Which tenants something may come to life in. */
@Injectable()
export class ActiveTenantsService {
  constructor(private readonly repository: ActiveTenantsRepository) {}

  /**
   * The tenant cannot be deleted before `tx` ends. To be called before the locks of the tenant's records are taken.
   * @throws unauthenticated when it has been deleted, as its sessions are refused from then on
   */
  async hold(tx: Tx, tenantId: string): Promise<void> {
    if (await this.repository.hold(tx, tenantId)) return;
    throw unauthenticated('The tenant of the session is closed. Log in again.');
  }

  /** Whether it is the tenant that the first start made, for which the installation is. */
  async isFirst(tx: Tx, tenantId: string): Promise<boolean> {
    return (await this.repository.firstId(tx)) === tenantId;
  }
}
