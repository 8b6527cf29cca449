import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../../platform/kernel/audit/audit-event.entity';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { invalid } from '../../../platform/kernel/errors/domain-error';
import type { Page } from '../../../platform/kernel/dto/page';
import { textToWire } from '../../../platform/kernel/product/product-name';
import { AuditRepository } from './audit.repository';
import type { AuditEventQuery, AuditEventRead, PlatformAuditEventQuery } from './dto/audit-event.dto';

/** Bounds paging depth: an OFFSET reads every row before the page. Older events are reached by the filter `to`. */
const MAX_PAGED_EVENTS = 10_000;

/** Lists audit events of one tenant, or of all tenants for the platform. */
@Injectable()
export class AuditService {
  constructor(private readonly repository: AuditRepository) {}

  /** A tenant does not see what the platform's administrators changed in records of others while they had it selected. */
  async listForTenant({ tenantId }: TenantScope, query: AuditEventQuery): Promise<Page<AuditEventRead>> {
    const page = await this.list({ ...query, tenant_id: tenantId });
    return { ...page, data: page.data.map((event) => read(event, (owner) => owner === tenantId)) };
  }

  async listForPlatform(query: PlatformAuditEventQuery): Promise<Page<AuditEventRead>> {
    const page = await this.list(query);
    return { ...page, data: page.data.map((event) => read(event, () => true)) };
  }

  private async list(query: PlatformAuditEventQuery): Promise<Page<AuditEvent>> {
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

/** @param isShown true for the tenants whose records the caller may see; null is the platform */
function read({ changes, ...event }: AuditEvent, isShown: (owner: string | null) => boolean): AuditEventRead {
  const shown = (changes?.records ?? []).filter(({ tenant_id: owner }) => isShown(owner));
  return {
    ...event,
    changes: shown.map(({ record, fields, omitted }) => ({
      record,
      fields: fields.map(({ field, before, after }) => ({ field: textToWire(field), before, after })),
      omitted,
    })),
  };
}
