import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuditEvent } from '../../../platform/kernel/audit/audit-event.entity';
import { limitClause, type Page, pageOf } from '../../../platform/kernel/dto/page';
import { columnsOf } from '../../../platform/kernel/persistence/entity-table';
import { Conditions, firstRow, rows } from '../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../platform/kernel/persistence/tenant-condition';
import type { PlatformAuditEventQuery } from './dto/audit-event.dto';

const COLUMNS = columnsOf(AuditEvent)
  .map((column) => `t.${column}`)
  .join(', ');

/** Reads the audit log. Rows are appended by the platform, in the transactions they describe. */
@Injectable()
export class AuditRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns a page of matching events, newest first. The total counts at most `maxCount` events. */
  async list(query: PlatformAuditEventQuery, maxCount: number): Promise<Page<AuditEvent>> {
    const { tenant_id: tenantId, from, to } = query;
    const conditions = new Conditions<AuditEvent>()
      .addIf(tenantId !== undefined, ofTenant('t'), tenantId)
      .only('user_id', query.user_id)
      .only('username', query.username?.toLowerCase())
      .only('operation', query.operation)
      .only('outcome', query.outcome)
      .addIf(from !== undefined, 't.at >= ?', from)
      .addIf(to !== undefined, 't.at <= ?', to)
      .only('correlation_id', query.correlation_id);
    const matching = `FROM audit_events t WHERE ${conditions.sql}`;
    const counted = await firstRow<{ total: number }>(
      this.dataSource.manager,
      `SELECT count(*) AS total
       FROM (SELECT 1 ${matching} ORDER BY t.at DESC, t.audit_event_id DESC LIMIT ${maxCount}) AS reached`,
      conditions.params,
    );
    const data = await rows<AuditEvent>(
      this.dataSource.manager,
      `SELECT ${COLUMNS} ${matching} ORDER BY t.at DESC, t.audit_event_id DESC ${limitClause(query)}`,
      conditions.params,
    );
    return pageOf(data, counted?.total ?? 0, query);
  }
}
