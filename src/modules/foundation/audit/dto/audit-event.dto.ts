import { nameEnum } from '../../../../platform/kernel/dto/named-enums';
import { AUDIT_OUTCOMES } from '../../../../platform/kernel/audit/audit-draft';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../platform/kernel/dto/page';

const SESSION_KINDS = nameEnum('SessionKind', ['login', 'token'], 'How a request was authenticated.', {
  token: 'a personal token',
});

export class AuditEventQuery extends PageQuery {
  @Param.id({ description: 'Only events of this user' }) user_id?: number;
  @Param.text({
    maxLength: 256,
    description: 'Only events of the user with this name, or failed logins with it, ignoring case',
  })
  username?: string;
  @Param.text({ maxLength: 128, description: 'Only events of this operation: an operation id, such as startCluster' })
  operation?: string;
  @Param.oneOf(AUDIT_OUTCOMES, { description: 'Only events with this outcome' }) outcome?: string;
  @Param.timestamp({ description: 'Only events at or after this time' }) from?: Date;
  @Param.timestamp({ description: 'Only events at or before this time' }) to?: Date;
  @Param.text({
    maxLength: 128,
    description: 'Only the events of the request with this id, which its error response and log lines name',
  })
  correlation_id?: string;
}

export class PlatformAuditEventQuery extends AuditEventQuery {
  @Param.uuid({ description: 'Only events in this tenant; in every tenant if it is absent' }) tenant_id?: string;
}

@About('An audit event: one request that changed something, or was refused, with its user, origin and outcome.')
export class AuditEventRead {
  @Field.id({ description: 'Id of the event; later events have larger ones' }) audit_event_id: number;
  @Field.timestamp({ description: 'When the request was made' }) at: Date;
  @Field.uuid({ nullable: true, description: 'The tenant that was selected for the session; null if none was' })
  tenant_id: string | null;
  @Field.id({
    nullable: true,
    description: 'The user who made the request; null if it is not known, as after a failed login',
  })
  user_id: number | null;
  @Field.text({
    nullable: true,
    description: 'Name of that user, or the name that was entered in a failed login; null if there is none',
  })
  username: string | null;
  @Field.uuid({ nullable: true, description: 'Id of the session or personal token; null without one' }) session_id:
    | string
    | null;
  @Field.oneOf(SESSION_KINDS, {
    nullable: true,
    description: 'login for a session, token for a personal token; null without one',
  })
  session_kind: string | null;
  @Field.text({ nullable: true, description: 'Address from which the request came; null if it is not known' }) ip:
    | string
    | null;
  @Field.text({ nullable: true, description: 'User-Agent header of the client; null if it sent none' }) user_agent:
    | string
    | null;
  @Field.text({ description: 'Operation id' }) operation: string;
  @Field.text({ description: 'HTTP method of the request' }) method: string;
  @Field.text({ description: 'Path template, with parameters in {braces}' }) path: string;
  @Field.map({ description: 'Ids and names in path, query and response', example: { cluster_id: 5 } })
  subject: Record<string, unknown>;
  @Field.oneOf(AUDIT_OUTCOMES, { description: 'refused for 4xx, failed for 5xx' }) outcome: string;
  @Field.int32({ description: 'HTTP status of the response' }) status: number;
  @Field.text({ nullable: true, description: 'Stable code of the error; null if there was none' }) error_code:
    | string
    | null;
  @Field.text({ description: 'Id of the request, which its error response and log lines name' }) correlation_id: string;
}
