import { nameEnum } from '../../../../../platform/kernel/dto/named-enums';
import { Field } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';

export const AUTH_TYPES = nameEnum('AuthType', ['LDAP', 'AAD', 'AZURE_SSO', 'LOCAL'], 'How users authenticate.', {
  LDAP: 'an LDAP directory, with user name and password',
  AAD: 'Microsoft Entra ID, with user name and password',
  AZURE_SSO: 'Microsoft Entra ID or another OpenID provider, on its own page',
  LOCAL: 'the platform, with user name and password',
});

@About('How users log in to this deployment.')
export class AuthTypeAnswer {
  @Field.oneOf(AUTH_TYPES, {
    description: 'LOCAL, LDAP and AAD take user name and password; AZURE_SSO redirects to the identity provider',
  })
  auth_type: string;
}

@Example({ username: 'admin', password: 'the password that the quickstart prints' })
@About('User name and password, in the body or as HTTP Basic. The body may be absent.')
export class LoginRequest {
  @Field.text({
    optional: true,
    minLength: 1,
    maxLength: 256,
    description: 'User name; may be sent as HTTP Basic instead',
  })
  username?: string;

  @Field.text({
    optional: true,
    minLength: 1,
    maxLength: 1024,
    description: 'Password; may be sent as HTTP Basic instead',
  })
  password?: string;

  @Field.oneOf(AUTH_TYPES, {
    optional: true,
    description:
      'The type that the client expects; if `getAuthType` returns another one, the request is refused with 400',
  })
  auth_type?: string;

  @Field.text({
    optional: true,
    maxLength: 64,
    default: '48h',
    description: 'How long the session lasts: for example 24h, 1700s, 2 days or infinity',
  })
  timeout: string = '48h';
}

@About('User name and password of a login in a browser; both are absent where users log in at a provider.')
export class BrowserLogin {
  @Field.text({ optional: true, minLength: 1, maxLength: 256, description: 'User name' })
  username?: string;

  @Field.text({ optional: true, minLength: 1, maxLength: 1024, description: 'Password' })
  password?: string;
}

@About('The token of the new session, or the URL at which the login continues.')
export class LoginResult {
  @Field.text({
    optional: true,
    description: 'Token for the header Authorization of other requests; absent if the login continues at loginURL',
  })
  token?: string;
  @Field.text({ optional: true, description: 'Login page of the identity provider; only with AZURE_SSO' })
  loginURL?: string;
  @Field.validityEnd({
    optional: true,
    nullable: false,
    description: 'When the session ends, in ISO 8601, or `infinity`; present with the token',
  })
  expires_at?: Date | 'infinity';
}
