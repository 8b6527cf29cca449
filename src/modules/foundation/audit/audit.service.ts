import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { invalid } from '../../../platform/kernel/errors/domain-error';
import type { Page } from '../../../platform/kernel/dto/page';
import { AuditRepository } from './audit.repository';
import type { AuditEventQuery, AuditEventRead, PlatformAuditEventQuery } from './dto/audit-event.dto';

/** A list further back must begin at a given time: a page costs what comes before it. */
const REACH = 10_000;

/** Who may see which part of the audit log. */
@Injectable()
export class AuditService {
  constructor(private readonly repository: AuditRepository) {}

  ofTenant(scope: TenantScope, query: AuditEventQuery): Promise<Page<AuditEventRead>> {
    return this.ofPlatform({ ...query, tenant_id: scope.tenantId });
  }

  async ofPlatform(query: PlatformAuditEventQuery): Promise<Page<AuditEventRead>> {
    if ((query.pageNumber - 1) * query.limit >= REACH) {
      throw invalid(
        'AUDIT.PAGE_TOO_DEEP',
        `Only the newest ${REACH} events can be paged through. For older ones, set "to" to the time of the oldest event seen.`,
        { reach: REACH },
      );
    }
    return this.repository.list(query, REACH);
  }
}
