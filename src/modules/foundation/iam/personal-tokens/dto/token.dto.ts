import { Validity, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field } from '../../../../../platform/kernel/dto/fields';
import { Example } from '../../../../../platform/kernel/dto/schemas';

@Example({ description: 'For the nightly import', timeout: '7 days' })
export class CreateToken {
  @Field.text({ optional: true, nullable: true, maxLength: 1000, description: 'What the token is for' })
  description?: string | null;

  @Field.text({ optional: true, maxLength: 64, default: '30 days', description: '24h, 1700s, 2 days or infinity' })
  timeout: string = '30 days';
}

export class TokenCreated extends WriteAudit {
  @Field.idText() token_id: string;
  @Field.text({ description: 'Shown only here; the platform keeps its hash' }) token: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.uuid() tenant_id: string;
  @Field.validityEnd({ nullable: false, description: 'ISO 8601, or infinity' }) expires_at: Date | 'infinity';
}

export class TokenRead extends Validity {
  @Field.id() token_id: number;
  @Field.text({ nullable: true }) description: string | null;
  @Field.uuid({ nullable: true }) tenant_id: string | null;
  @Field.validityEnd({ nullable: false, description: 'ISO 8601, or infinity' }) expires_at: Date | 'infinity';
  @Field.timestamp({ nullable: true, description: 'To the minute' }) last_used_at: Date | null;
}
