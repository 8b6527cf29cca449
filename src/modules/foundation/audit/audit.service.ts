import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { invalid } from '../../../platform/kernel/errors/domain-error';
import type { Page } from '../../../platform/kernel/dto/page';
import { AuditRepository } from './audit.repository';
import type { AuditEventQuery, AuditEventRead, PlatformAuditEventQuery } from './dto/audit-event.dto';

/** Bounds paging depth: an OFFSET reads every row before the page. Older events are reached by the filter `to`. */
const MAX_PAGED_EVENTS = 10_000;

/** Lists audit events of one tenant, or of all tenants for the platform. */
@Injectable()
export class AuditService {
  constructor(private readonly repository: AuditRepository) {}

  listForTenant(scope: TenantScope, query: AuditEventQuery): Promise<Page<AuditEventRead>> {
    return this.listForPlatform({ ...query, tenant_id: scope.tenantId });
  }

  async listForPlatform(query: PlatformAuditEventQuery): Promise<Page<AuditEventRead>> {
    if ((query.pageNumber - 1) * query.limit >= MAX_PAGED_EVENTS) {
      throw invalid(
        'AUDIT.PAGE_TOO_DEEP',
        `Only the newest ${MAX_PAGED_EVENTS} events can be paged through. For older ones, set "to" to the time of the oldest event seen.`,
        { reach: MAX_PAGED_EVENTS },
      );
    }
    return this.repository.list(query, MAX_PAGED_EVENTS);
  }
}
