import { Validity, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';

@Example({ description: 'For the nightly import', timeout: '7 days' })
@About('What the token is for and how long it is valid. The whole body may be absent.')
export class CreateToken {
  @Field.text({
    optional: true,
    nullable: true,
    maxLength: 1000,
    description: 'What the token is for, at most 1,000 characters; null for no description',
  })
  description?: string | null;

  @Field.text({
    optional: true,
    maxLength: 64,
    default: '30 days',
    description: 'How long the token is valid: for example 24h, 1700s, 2 days or infinity',
  })
  timeout: string = '30 days';
}

@About('The new token, which is shown only here. Ids are decimal strings.')
export class TokenCreated extends WriteAudit {
  @Field.idText({ description: 'Id of the token, by which it is revoked' }) token_id: string;
  @Field.text({ description: 'The token itself. It is shown only here; the platform keeps its hash' }) token: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.uuid({ description: 'The tenant in which the token works' }) tenant_id: string;
  @Field.validityEnd({
    nullable: false,
    description: 'When the token stops working, in ISO 8601; `infinity` if it never does',
  })
  expires_at: Date | 'infinity';
}

@About('A personal token, without the token itself.')
export class TokenRead extends Validity {
  @Field.id({ description: 'Id of the token, by which it is revoked' }) token_id: number;
  @Field.text({ nullable: true }) description: string | null;
  @Field.uuid({ nullable: true, description: 'The tenant in which the token works; null if none was selected' })
  tenant_id: string | null;
  @Field.validityEnd({
    nullable: false,
    description: 'When the token stops working, in ISO 8601; `infinity` if it never does',
  })
  expires_at: Date | 'infinity';
  @Field.timestamp({ nullable: true, description: 'When the token was last used, to the minute; null if it never was' })
  last_used_at: Date | null;
}
