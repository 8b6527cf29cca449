import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../platform/auth/principal';
import { invalid } from '../../platform/errors/domain-error';
import type { Page } from '../../platform/http/page';
import { Conditions } from '../../platform/persistence/sql';
import { ofTenant } from '../../platform/persistence/tenant-condition';
import { AuditRepository } from './audit.repository';
import type { AuditEventQuery, AuditEventRead, PlatformAuditEventQuery } from './dto/audit-event.dto';

/** A list further back begins at a moment: a page costs what lies before it. */
const REACH = 10_000;

/** Who may see which part of the audit log. */
@Injectable()
export class AuditService {
  constructor(private readonly repository: AuditRepository) {}

  ofTenant(scope: TenantScope, query: AuditEventQuery): Promise<Page<AuditEventRead>> {
    return this.list(new Conditions().add(ofTenant('audit_events'), scope.tenantId), query);
  }

  ofPlatform(query: PlatformAuditEventQuery): Promise<Page<AuditEventRead>> {
    const tenantId = query.tenant_id;
    return this.list(new Conditions().addIf(tenantId !== undefined, ofTenant('audit_events'), tenantId), query);
  }

  private async list(conditions: Conditions, query: AuditEventQuery): Promise<Page<AuditEventRead>> {
    if ((query.pageNumber - 1) * query.limit >= REACH) {
      throw invalid(
        'AUDIT.PAGE_TOO_DEEP',
        `Only the newest ${REACH} events can be paged through. For older ones give "to" the moment of the oldest event seen.`,
        { reach: REACH },
      );
    }
    conditions
      .addIf(query.user_id !== undefined, 'user_id = ?', query.user_id)
      .addIf(query.username !== undefined, 'username = ?', query.username?.toLowerCase())
      .addIf(query.operation !== undefined, 'operation = ?', query.operation)
      .addIf(query.outcome !== undefined, 'outcome = ?', query.outcome)
      .addIf(query.from !== undefined, 'at >= ?', query.from)
      .addIf(query.to !== undefined, 'at <= ?', query.to)
      .addIf(query.correlation_id !== undefined, 'correlation_id = ?', query.correlation_id);
    return this.repository.list(conditions, query, REACH);
  }
}
