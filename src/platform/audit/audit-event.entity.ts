import { Check, Column, Entity, Index } from 'typeorm';
import { Col } from '../persistence/columns';

/**
 * One row of the audit log: who did what, from where, with which outcome. Append-only: a trigger refuses UPDATE, DELETE
 * and TRUNCATE. It refers to nothing by foreign key, so that it stands whatever becomes of users and tenants.
 */
@Entity('audit_events')
@Check('ck_audit_events_outcome', `outcome IN ('done', 'refused', 'failed')`)
@Index('ix_audit_events_at', ['at', 'auditEventId'])
@Index('ix_audit_events_tenant', ['tenantId', 'at', 'auditEventId'])
@Index('ix_audit_events_user', ['userId', 'at', 'auditEventId'])
@Index('ix_audit_events_username', ['username', 'at', 'auditEventId'])
@Index('ix_audit_events_correlation', ['correlationId'])
export class AuditEvent {
  @Col.identity('audit_event_id', 'pk_audit_events') auditEventId: string;
  /** To the millisecond, which is what answers and filters have. */
  @Column({ name: 'at', type: 'timestamptz', precision: 3, default: () => 'clock_timestamp()' }) at: Date;
  @Col.uuid('tenant_id', { nullable: true }) tenantId: string | null;
  @Col.bigint('user_id', { nullable: true }) userId: string | null;
  @Col.text('username', { nullable: true }) username: string | null;
  @Col.uuid('session_id', { nullable: true }) sessionId: string | null;
  @Col.text('session_kind', { nullable: true }) sessionKind: string | null;
  @Col.text('ip', { nullable: true }) ip: string | null;
  @Col.text('user_agent', { nullable: true }) userAgent: string | null;
  @Col.text('operation') operation: string;
  @Col.text('method') method: string;
  @Col.text('path') path: string;
  @Col.json('subject') subject: Record<string, unknown>;
  @Col.text('outcome') outcome: string;
  @Col.int('status') status: number;
  @Col.text('error_code', { nullable: true }) errorCode: string | null;
  @Col.text('correlation_id') correlationId: string;
}
