import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AuthorNames } from '../../../../platform/kernel/dto/response-fields';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import { RecordRepository } from '../../../../platform/http/resources/resource-repository';
import { Tenant } from '../entities/tenant.entity';

export type TenantRecordRow = Tenant & AuthorNames;

/** Reads and writes tenants. It is not scoped to a tenant, so only PLATFORM ADMIN operations may use it. */
@Injectable()
export class TenantsRepository extends RecordRepository<Tenant, TenantRecordRow, object, string> {
  constructor(dataSource: DataSource) {
    super(dataSource, { entity: Tenant, order: 't.from_date DESC, t.tenant_id' });
  }

  async moveOwnedToPlatform(tx: Tx, userId: number, tenantId: string): Promise<void> {
    for (const table of ['users', 'groups']) {
      await tx.query(
        `UPDATE ${table} SET owner_tenant_id = NULL, modified_by_user_id = $2, last_update_date = platform_now()
         WHERE ${ofTenant(table, '$1', 'owner_tenant_id')}`,
        [tenantId, userId],
      );
    }
  }

  /** Ends the validity of every role that users and groups hold in the tenant. */
  async endRoles(tx: Tx, userId: number, tenantId: string): Promise<void> {
    for (const table of ['user_roles', 'group_roles']) {
      await tx.query(
        `UPDATE ${table} SET to_date = platform_now(), modified_by_user_id = $2, last_update_date = platform_now()
         WHERE ${ofTenant(table, '$1')} AND to_date = 'infinity'`,
        [tenantId, userId],
      );
    }
  }
}
