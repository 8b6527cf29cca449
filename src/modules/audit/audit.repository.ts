import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { limitClause, type Page, type PageRequest, pageOf } from '../../platform/http/page';
import { Conditions, firstRow, rows } from '../../platform/persistence/sql';
import type { AuditEventRead } from './dto/audit-event.dto';

const COLUMNS = `audit_event_id, at, tenant_id, user_id, username, session_id, session_kind, ip, user_agent, operation,
  method, path, subject, outcome, status, error_code, correlation_id`;

/** Reads the audit log. Rows are appended by the platform, in the transactions they describe. */
@Injectable()
export class AuditRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * A page of matching events, newest first.
   * @param reach events from the newest on that are counted and can be paged to
   */
  async list(conditions: Conditions, page: PageRequest, reach: number): Promise<Page<AuditEventRead>> {
    const from = `FROM audit_events WHERE ${conditions.sql}`;
    const counted = await firstRow<{ total: number }>(
      this.dataSource.manager,
      `SELECT count(*) AS total FROM (SELECT 1 ${from} ORDER BY at DESC, audit_event_id DESC LIMIT ${reach}) AS reached`,
      conditions.params,
    );
    const data = await rows<AuditEventRead>(
      this.dataSource.manager,
      `SELECT ${COLUMNS} ${from} ORDER BY at DESC, audit_event_id DESC ${limitClause(page)}`,
      conditions.params,
    );
    return pageOf(data, counted?.total ?? 0, page);
  }
}
