import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../../platform/kernel/auth/principal';
import { notFound } from '../../../../platform/kernel/errors/domain-error';
import { type Message, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import { assertChanges } from '../../../../platform/http/changes';
import type { Page, PageRequest } from '../../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../../platform/kernel/dto/selector';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { References } from '../../../../platform/http/resources/references';
import { ALL_TENANTS } from '../../../../platform/http/resources/resource-repository';
import { Tenant } from '../entities/tenant.entity';
import { SessionChanges } from '../sessions/session-changes';
import { EVERY_SESSION, SessionsRepository } from '../sessions/sessions.repository';
import { DirectoryRepository } from '../users-and-groups/directory.repository';
import type { CreateTenant, TenantRead, TenantSummary, TenantWrite, UpdateTenant } from './dto/tenant.dto';
import { type TenantRecordRow, TenantsRepository } from './tenants.repository';

type TenantSelection = RecordSelector<string>;

/** Manages tenants for PLATFORM ADMINs. */
@Injectable()
export class TenantsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly repository: TenantsRepository,
    private readonly directory: DirectoryRepository,
    private readonly sessions: SessionsRepository,
    private readonly changes: SessionChanges,
    private readonly references: References,
  ) {}

  async list(query: PageRequest, partOfName?: string): Promise<Page<TenantRead>> {
    const page = await this.repository.list(ALL_TENANTS, query, undefined, partOfName);
    return { ...page, data: page.data.map(read) };
  }

  async get(selector: TenantSelection): Promise<TenantRead> {
    return read(await this.repository.get(ALL_TENANTS, selector));
  }

  /** Lists the tenants that the user may select: those where the user holds a role; all for a PLATFORM ADMIN. */
  async listForUser(userId: number, page: PageRequest): Promise<Page<TenantSummary>> {
    if (!(await this.directory.userById(userId))) {
      throw notFound('USER.NOT_FOUND', `There is no user with id ${userId}.`);
    }
    return this.directory.selectableTenants(userId, page);
  }

  async create(caller: Principal, body: CreateTenant): Promise<TenantWrite> {
    return this.transactions.run(async (tx) => write(await this.repository.insert(tx, caller, { ...body })));
  }

  async update(caller: Principal, selector: TenantSelection, body: UpdateTenant): Promise<TenantWrite> {
    assertChanges(body);
    return this.transactions.run(async (tx) => {
      const { tenant_id: id } = await this.repository.get(ALL_TENANTS, selector, tx, true);
      return write(await this.repository.update(tx, caller, id, { ...body }));
    });
  }

  /**
   * Closes the tenant and ends the roles held in it; the platform becomes the owner of its accounts and groups. The row
   * lock keeps clusters from being created or enabled meanwhile. Sessions and tokens of the tenant are refused from the
   * next request on. Only the caller's own login continues, without a selected tenant.
   */
  async delete(caller: Principal, selector: TenantSelection): Promise<Message> {
    const { userId, sessionId } = caller;
    return this.changes.run(EVERY_SESSION, async (tx) => {
      const tenant = await this.repository.get(ALL_TENANTS, selector, tx, true);
      await this.references.assertNotKept(tx, Tenant, tenant.tenant_id);
      await this.repository.close(tx, caller, tenant.tenant_id);
      await this.repository.endRoles(tx, userId, tenant.tenant_id);
      await this.repository.moveOwnedToPlatform(tx, userId, tenant.tenant_id);
      await this.sessions.deselectTenant(tx, sessionId, tenant.tenant_id);
      return { message: `The tenant "${tenant.name}" (id ${tenant.tenant_id}) is deleted.` };
    });
  }
}

function read(row: TenantRecordRow): TenantRead {
  return { ...summary(row), ...readAudit(row) };
}

function write(row: TenantRecordRow): TenantWrite {
  return { ...summary(row), ...writeAudit(row) };
}

function summary({ tenant_id, name, description }: TenantRecordRow): TenantSummary {
  return { tenant_id, name, description };
}
