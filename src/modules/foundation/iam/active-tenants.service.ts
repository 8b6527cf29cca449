import { Injectable } from '@nestjs/common';
import { unauthenticated } from '../../../platform/kernel/errors/domain-error';
import type { Db, Tx } from '../../../platform/kernel/persistence/sql';
import { ActiveTenantsRepository } from './active-tenants.repository';

/** Keeps a tenant from being deleted while resources are created in it. */
@Injectable()
export class ActiveTenantsService {
  constructor(private readonly repository: ActiveTenantsRepository) {}

  /**
   * Locks the tenant, so that it cannot be deleted before `tx` ends. Call this before locking records of the tenant.
   * @throws unauthenticated if the tenant is deleted, since its sessions are no longer accepted either
   */
  async lock(tx: Tx, tenantId: string): Promise<void> {
    if (await this.repository.lock(tx, tenantId)) return;
    throw unauthenticated('The tenant of the session was deleted. Log in again.');
  }

  /** True for the tenant that was created when the installation first started. */
  async isFirst(db: Db, tenantId: string): Promise<boolean> {
    return (await this.repository.firstId(db)) === tenantId;
  }
}
