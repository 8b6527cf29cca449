import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../platform/kernel/auth/access';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { CurrentScope } from '../../../platform/http/auth/request-principal';
import { ADMINS } from '../../../platform/kernel/auth/roles';
import { Responses, Operation } from '../../../platform/http/operation';
import type { Page } from '../../../platform/kernel/dto/page';
import { AuditService } from './audit.service';
import { AuditEventQuery, AuditEventRead, PlatformAuditEventQuery } from './dto/audit-event.dto';

const TAG = 'Audit log';

@Controller()
export class AuditController {
  constructor(private readonly service: AuditService) {}

  @Operation({
    method: 'GET',
    path: '/admin/audit/events',
    id: 'listAuditEvents',
    isExtension: true,
    summary:
      'List the audit events of the selected tenant, newest first; only the newest 10,000 can be counted and paged',
    description:
      'Returns the requests that changed something, or were refused, in the selected tenant. Only the newest 10,000 events that match can be counted and paged; to reach older ones, narrow the filters.',
    tag: TAG,
    access: Allow.tenant(ADMINS),
    response: Responses.page(AuditEventRead),
  })
  listAuditEvents(@CurrentScope() scope: TenantScope, @Query() query: AuditEventQuery): Promise<Page<AuditEventRead>> {
    return this.service.listForTenant(scope, query);
  }

  @Operation({
    method: 'GET',
    path: '/platform/admin/audit/events',
    id: 'listPlatformAuditEvents',
    isExtension: true,
    summary: 'List the audit events of every tenant, newest first; only the newest 10,000 can be counted and paged',
    description:
      'Returns the requests that changed something, or were refused, in every tenant and outside of tenants. Only the newest 10,000 events that match can be counted and paged; to reach older ones, narrow the filters.',
    tag: TAG,
    access: Allow.platform(['PLATFORM ADMIN']),
    response: Responses.page(AuditEventRead),
  })
  listPlatformAuditEvents(@Query() query: PlatformAuditEventQuery): Promise<Page<AuditEventRead>> {
    return this.service.listForPlatform(query);
  }
}
