import { Field } from '../../../../../platform/kernel/dto/fields';
import { Example } from '../../../../../platform/kernel/dto/schemas';

export const AUTH_TYPES = ['LDAP', 'AAD', 'AZURE_SSO', 'LOCAL'] as const;

export class AuthTypeAnswer {
  @Field.oneOf(AUTH_TYPES) auth_type: string;
}

@Example({ username: 'admin', password: 'the password that the quickstart prints' })
export class LoginRequest {
  @Field.text({ optional: true, minLength: 1, maxLength: 256, description: 'May be sent as HTTP Basic instead' })
  username?: string;

  @Field.text({ optional: true, minLength: 1, maxLength: 1024, description: 'May be sent as HTTP Basic instead' })
  password?: string;

  @Field.oneOf(AUTH_TYPES, { optional: true, description: 'Must be the type that this server announces' })
  auth_type?: string;

  @Field.text({ optional: true, maxLength: 64, default: '48h', description: '24h, 1700s, 2 days or infinity' })
  timeout: string = '48h';
}

export class LoginResult {
  @Field.text({ optional: true, description: 'Absent if the login continues at loginURL' }) token?: string;
  @Field.text({ optional: true, description: 'Page of the provider to log in at; AZURE_SSO only' }) loginURL?: string;
  @Field.validityEnd({ optional: true, nullable: false, description: 'ISO 8601, or infinity; given with the token' })
  expires_at?: Date | 'infinity';
}
