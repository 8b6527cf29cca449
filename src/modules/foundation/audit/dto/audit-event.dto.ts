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

@About('A field that a request changed.')
export class FieldChangeRead {
  @Field.text({
    description:
      'Name of the field in the record. A dot leads into a map or a list of properties, such as `settings.driver_memory`',
  })
  field: string;
  @Field.text({
    nullable: true,
    description:
      'Value before the request; null if there was none. A secret is `[secret]`, a long text is cut, and of a text of several lines only its size and hash are kept',
  })
  before: string | null;
  @Field.text({ nullable: true, description: 'Value after the request, kept as `before` is; null if there is none' })
  after: string | null;
}

@About('What a request changed in a record.')
export class RecordChangeRead {
  @Field.text({ description: 'Kind and id of the record, such as `volume configuration 5`' }) record: string;
  @Field.objects(() => FieldChangeRead, { description: 'Fields whose values the request changed' })
  fields: FieldChangeRead[];
  @Field.int32({ description: 'Number of further changed fields, which are not kept: an event has at most 32' })
  omitted: number;
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
  @Field.objects(() => RecordChangeRead, {
    description:
      'Fields that the request changed in existing records, from what to what. Empty if it changed none, if it was refused, for creations and deletions, for records of other tenants, and for events of releases that did not keep them',
    example: [
      {
        record: 'volume configuration 5',
        fields: [{ field: 'size', before: '100', after: '200' }],
        omitted: 0,
      },
    ],
  })
  changes: RecordChangeRead[];
}
