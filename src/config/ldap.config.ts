import type { EnvReader } from './env-reader';

const SERVER_TYPES = ['OPENLDAP', 'ACTIVE_DIRECTORY'] as const;

const DEFAULTS = {
  OPENLDAP: {
    userFilter: '(&(objectClass=inetOrgPerson)(uid={username}))',
    usernameAttribute: 'uid',
    groupFilter: '(|(member={dn})(uniqueMember={dn})(memberUid={username}))',
    groupIdAttribute: 'entryUUID',
    memberOfAttribute: null,
  },
  ACTIVE_DIRECTORY: {
    // This bit of userAccountControl says that the account is disabled.
    userFilter:
      '(&(objectCategory=person)(objectClass=user)(!(userAccountControl:1.2.840.113556.1.4.803:=2))(sAMAccountName={username}))',
    usernameAttribute: 'sAMAccountName',
    groupFilter: '(member={dn})',
    groupIdAttribute: 'objectGUID',
    memberOfAttribute: 'memberOf',
  },
};

/** Where the server is and how it describes people and groups, as `libs/directories` explains; null where none is named. */
export function readLdapConfig(env: EnvReader) {
  if (env.optional('LDAP_URL') === null) return null;
  const defaults = DEFAULTS[env.oneOf('LDAP_SERVER_TYPE', SERVER_TYPES, 'OPENLDAP')];
  const url = env.url('LDAP_URL', ['ldap:', 'ldaps:']);
  const startTls = env.boolean('LDAP_START_TLS', false);
  const allowPlain = env.boolean('LDAP_ALLOW_PLAIN', false);
  if (url.startsWith('ldaps:') && startTls)
    env.problem('LDAP_START_TLS', 'may be set only with ldap://; ldaps:// is encrypted already');
  if (url.startsWith('ldap:') && !startTls && !allowPlain && !env.isLoopback(url)) {
    env.problem('LDAP_URL', 'would send passwords unencrypted: use ldaps://, LDAP_START_TLS or LDAP_ALLOW_PLAIN');
  }
  const bindDn = env.optional('LDAP_BIND_DN');
  return {
    url,
    startTls,
    ca: env.file('LDAP_CA_FILE'),
    verify: env.boolean('LDAP_TLS_VERIFY', true),
    bindDn,
    // A bind with a name and no password succeeds as nobody.
    bindPassword: bindDn === null ? '' : env.string('LDAP_BIND_PASSWORD'),
    userBaseDn: env.string('LDAP_USER_BASE_DN'),
    userFilter: filter(env, 'LDAP_USER_FILTER', env.optional('LDAP_USER_FILTER') ?? defaults.userFilter, ['username']),
    usernameAttribute: env.string('LDAP_USERNAME_ATTRIBUTE', { default: defaults.usernameAttribute }),
    emailAttribute: env.string('LDAP_EMAIL_ATTRIBUTE', { default: 'mail' }),
    displayNameAttribute: env.string('LDAP_DISPLAY_NAME_ATTRIBUTE', { default: 'displayName' }),
    groupBaseDn: env.optional('LDAP_GROUP_BASE_DN'),
    groupFilter: filter(env, 'LDAP_GROUP_FILTER', env.optional('LDAP_GROUP_FILTER') ?? defaults.groupFilter, [
      'dn',
      'username',
    ]),
    groupNameAttribute: env.string('LDAP_GROUP_NAME_ATTRIBUTE', { default: 'cn' }),
    groupMailAttribute: env.string('LDAP_GROUP_MAIL_ATTRIBUTE', { default: 'mail' }),
    groupIdAttribute: env.string('LDAP_GROUP_ID_ATTRIBUTE', { default: defaults.groupIdAttribute }),
    memberOfAttribute: env.optional('LDAP_MEMBER_OF_ATTRIBUTE') ?? defaults.memberOfAttribute,
    timeoutMs: env.integer('LDAP_TIMEOUT_MS', { default: 10_000, min: 100, max: 60_000 }),
  };
}

export type LdapConfig = ReturnType<typeof readLdapConfig>;

function filter(env: EnvReader, name: string, text: string, placeholders: readonly string[]): string {
  if (!/^\(.*\)$/s.test(text) || !placeholders.some((placeholder) => text.includes(`{${placeholder}}`))) {
    env.problem(name, `must be a filter in brackets with ${placeholders.map((p) => `{${p}}`).join(' or ')}`);
  }
  return text;
}
