import { Check, Column, Entity, Index } from 'typeorm';
import { Col } from '../persistence/columns';
import type { RecordedChanges } from './record-changes';

/**
 * A row of the audit log says who did what, from where, with which outcome. The table is append-only: a trigger refuses
 * UPDATE, DELETE and TRUNCATE. It has no foreign keys, so rows stay when their users and tenants are deleted.
 */
@Entity('audit_events')
@Check('ck_audit_events_outcome', `outcome IN ('done', 'refused', 'failed')`)
@Index('ix_audit_events_at', ['at', 'audit_event_id'])
@Index('ix_audit_events_tenant', ['tenant_id', 'at', 'audit_event_id'])
@Index('ix_audit_events_user', ['user_id', 'at', 'audit_event_id'])
@Index('ix_audit_events_username', ['username', 'at', 'audit_event_id'])
@Index('ix_audit_events_correlation', ['correlation_id'])
export class AuditEvent {
  @Col.identity('pk_audit_events') audit_event_id: number;
  /** Responses and filters have the same precision of a millisecond. */
  @Column({ name: 'at', type: 'timestamptz', precision: 3, default: () => 'platform_clock()' }) at: Date;
  @Col.uuid({ nullable: true }) tenant_id: string | null;
  @Col.bigint({ nullable: true }) user_id: number | null;
  @Col.text({ nullable: true }) username: string | null;
  @Col.uuid({ nullable: true }) session_id: string | null;
  @Col.text({ nullable: true }) session_kind: string | null;
  @Col.text({ nullable: true }) ip: string | null;
  @Col.text({ nullable: true }) user_agent: string | null;
  @Col.text() operation: string;
  @Col.text() method: string;
  @Col.text() path: string;
  @Col.json() subject: Record<string, unknown>;
  @Col.text() outcome: string;
  @Col.int() status: number;
  @Col.text({ nullable: true }) error_code: string | null;
  @Col.text() correlation_id: string;
  /** Null if the request changed no field of a record, or nothing recorded it. */
  @Col.json({ nullable: true }) changes: RecordedChanges | null;
}
