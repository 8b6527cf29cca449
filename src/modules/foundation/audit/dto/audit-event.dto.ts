import { AUDIT_OUTCOMES } from '../../../../platform/kernel/audit/audit-draft';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { PageQuery } from '../../../../platform/kernel/dto/page';

const SESSION_KINDS = ['login', 'token'] as const;

export class AuditEventQuery extends PageQuery {
  @Param.id({ description: 'User who made the request' }) user_id?: number;
  @Param.text({
    maxLength: 256,
    description: 'User who made the request, or the name entered in a failed login; case-insensitive',
  })
  username?: string;
  @Param.text({ maxLength: 128, description: 'Operation id, such as startCluster' }) operation?: string;
  @Param.oneOf(AUDIT_OUTCOMES) outcome?: string;
  @Param.timestamp({ description: 'At or after this time' }) from?: Date;
  @Param.timestamp({ description: 'At or before this time' }) to?: Date;
  @Param.text({ maxLength: 128, description: 'Correlation id of the request, as in its error response and log lines' })
  correlation_id?: string;
}

export class PlatformAuditEventQuery extends AuditEventQuery {
  @Param.uuid({ description: 'Every tenant if absent' }) tenant_id?: string;
}

export class AuditEventRead {
  @Field.id() audit_event_id: number;
  @Field.timestamp() at: Date;
  @Field.uuid({ nullable: true, description: 'Tenant selected for the session' }) tenant_id: string | null;
  @Field.id({ nullable: true }) user_id: number | null;
  @Field.text({ nullable: true, description: 'For a failed login, the name that was entered' }) username: string | null;
  @Field.uuid({ nullable: true }) session_id: string | null;
  @Field.oneOf(SESSION_KINDS, { nullable: true, description: 'token for a personal token' })
  session_kind: string | null;
  @Field.text({ nullable: true }) ip: string | null;
  @Field.text({ nullable: true }) user_agent: string | null;
  @Field.text({ description: 'Operation id' }) operation: string;
  @Field.text() method: string;
  @Field.text({ description: 'Path template, with parameters in {braces}' }) path: string;
  @Field.map({ description: 'Ids and names in path, query and response', example: { cluster_id: 5 } })
  subject: Record<string, unknown>;
  @Field.oneOf(AUDIT_OUTCOMES, { description: 'refused for 4xx, failed for 5xx' }) outcome: string;
  @Field.int32({ description: 'HTTP status of the response' }) status: number;
  @Field.text({ nullable: true }) error_code: string | null;
  @Field.text() correlation_id: string;
}
