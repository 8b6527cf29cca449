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

/** Returns the server and the form of its entries, as `libs/directories` explains them; null if no server is configured. */
export function readLdapConfig(reader: EnvReader) {
  const env = reader.section(
    'LDAP server',
    'These variables apply to `AUTH_TYPE=LDAP`; [where people log in](operations/login.md#where-people-log-in) says how to set it up.',
  );
  const url = env.optionalUrl('LDAP_URL', ['ldap:', 'ldaps:'], {
    defaultText: 'the built-in directory is used',
    example: 'ldaps://ldap.example.org',
    readBy: ['API'],
    description: 'URL of the LDAP server that checks passwords.',
  });
  if (url === null) return null;
  const defaults =
    DEFAULTS[
      env.oneOf('LDAP_SERVER_TYPE', SERVER_TYPES, {
        default: 'OPENLDAP',
        readBy: ['API'],
        description: 'Kind of the server, which decides the defaults of filters and attributes.',
      })
    ];
  const { startTls, ...connection } = readConnection(env, url);
  const bindDn = env.optional('LDAP_BIND_DN', {
    allowed: 'distinguished name',
    defaultText: 'the search is anonymous',
    readBy: ['API'],
    description: 'Account that searches for users and groups.',
  });
  const bindPassword =
    // A bind with a name and no password succeeds as nobody.
    bindDn === null
      ? ''
      : env.string('LDAP_BIND_PASSWORD', {
          requiredIf: '`LDAP_BIND_DN` is set',
          readBy: ['API'],
          description: 'Password of that account.',
        });
  return {
    url,
    startTls,
    ...connection,
    bindDn,
    bindPassword,
    ...readUserRules(env, defaults),
    ...readGroupRules(env, defaults),
    timeoutMs: env.integer('LDAP_TIMEOUT_MS', {
      default: 10_000,
      min: 100,
      max: 60_000,
      unit: 'milliseconds',
      readBy: ['API'],
      description: 'Longest time that the server may take for one login.',
    }),
  };
}

export type LdapConfig = ReturnType<typeof readLdapConfig>;

function readConnection(env: EnvReader, url: string) {
  const startTls = env.boolean('LDAP_START_TLS', {
    default: false,
    readBy: ['API'],
    description: 'Whether a connection to `ldap://` is encrypted (StartTLS) before anything is sent.',
  });
  const allowPlain = env.boolean('LDAP_ALLOW_PLAIN', {
    default: false,
    readBy: ['API'],
    description:
      'Whether passwords may cross a network unencrypted. A server at a loopback address needs no such permission.',
  });
  if (url.startsWith('ldaps:') && startTls)
    env.problem('LDAP_START_TLS', 'may be set only with ldap://; ldaps:// is encrypted already');
  if (url.startsWith('ldap:') && !startTls && !allowPlain && !env.isLoopback(url)) {
    env.problem('LDAP_URL', 'would send passwords unencrypted: use ldaps://, LDAP_START_TLS or LDAP_ALLOW_PLAIN');
  }
  const ca = env.file('LDAP_CA_FILE', {
    allowed: 'path of a PEM file',
    defaultText: "Node's certificate authorities are trusted",
    readBy: ['API'],
    description: 'Certificate authorities that are trusted instead of the usual ones.',
  });
  const verify = env.boolean('LDAP_TLS_VERIFY', {
    default: true,
    readBy: ['API'],
    description: "Whether the server's certificate is verified.",
  });
  return { startTls, ca, verify };
}

type Defaults = (typeof DEFAULTS)[keyof typeof DEFAULTS];

function readUserRules(env: EnvReader, defaults: Defaults) {
  return {
    userBaseDn: env.string('LDAP_USER_BASE_DN', {
      allowed: 'distinguished name',
      requiredIf: '`LDAP_URL` is set',
      example: 'ou=people,dc=example,dc=org',
      readBy: ['API'],
      description: 'Entry below which users are searched.',
    }),
    userFilter: readFilter(env, 'LDAP_USER_FILTER', ['username'], {
      default: defaults.userFilter,
      defaultText: `\`${DEFAULTS.OPENLDAP.userFilter}\`; Active Directory: enabled persons by \`sAMAccountName\``,
      description: 'Filter that finds the user with the name `{username}`.',
    }),
    usernameAttribute: env.string('LDAP_USERNAME_ATTRIBUTE', {
      default: defaults.usernameAttribute,
      defaultText: '`uid`; Active Directory: `sAMAccountName`',
      allowed: 'attribute',
      readBy: ['API'],
      description: 'Attribute that becomes the user name on this platform.',
    }),
    emailAttribute: env.string('LDAP_EMAIL_ATTRIBUTE', {
      default: 'mail',
      allowed: 'attribute',
      readBy: ['API'],
      description: "Attribute with the user's e-mail address.",
    }),
    displayNameAttribute: env.string('LDAP_DISPLAY_NAME_ATTRIBUTE', {
      default: 'displayName',
      allowed: 'attribute',
      readBy: ['API'],
      description: "Attribute with the user's full name. `cn` is used for a user who does not have it.",
    }),
  };
}

function readGroupRules(env: EnvReader, defaults: Defaults) {
  return {
    groupBaseDn: env.optional('LDAP_GROUP_BASE_DN', {
      allowed: 'distinguished name',
      defaultText: 'no groups are imported',
      example: 'ou=groups,dc=example,dc=org',
      readBy: ['API'],
      description: 'Entry below which groups are imported.',
    }),
    memberOfAttribute:
      env.optional('LDAP_MEMBER_OF_ATTRIBUTE', {
        allowed: 'attribute',
        defaultText: 'none; Active Directory: `memberOf`',
        readBy: ['API'],
        description: "Attribute of a user that lists the user's groups. Without it `LDAP_GROUP_FILTER` finds them.",
      }) ?? defaults.memberOfAttribute,
    groupFilter: readFilter(env, 'LDAP_GROUP_FILTER', ['dn', 'username'], {
      default: defaults.groupFilter,
      defaultText: `\`${DEFAULTS.OPENLDAP.groupFilter}\`; Active Directory: \`${DEFAULTS.ACTIVE_DIRECTORY.groupFilter}\``,
      description: "Filter that finds a user's groups by `{dn}` or `{username}`.",
    }),
    groupNameAttribute: env.string('LDAP_GROUP_NAME_ATTRIBUTE', {
      default: 'cn',
      allowed: 'attribute',
      readBy: ['API'],
      description: 'Attribute with the name of a group.',
    }),
    groupMailAttribute: env.string('LDAP_GROUP_MAIL_ATTRIBUTE', {
      default: 'mail',
      allowed: 'attribute',
      readBy: ['API'],
      description: 'Attribute with the e-mail address of a group.',
    }),
    groupIdAttribute: env.string('LDAP_GROUP_ID_ATTRIBUTE', {
      default: defaults.groupIdAttribute,
      defaultText: '`entryUUID`; Active Directory: `objectGUID`',
      allowed: 'attribute',
      readBy: ['API'],
      description: 'Attribute with an id that stays the same when the group is renamed.',
    }),
  };
}

function readFilter(
  env: EnvReader,
  name: string,
  placeholders: readonly string[],
  rule: { default: string; defaultText: string; description: string },
): string {
  const names = placeholders.map((placeholder) => `{${placeholder}}`).join(' or ');
  const text = env.string(name, { ...rule, allowed: `LDAP filter in brackets with ${names}`, readBy: ['API'] });
  if (!/^\(.*\)$/s.test(text) || !placeholders.some((placeholder) => text.includes(`{${placeholder}}`))) {
    env.problem(name, `must be a filter in brackets with ${names}`);
  }
  return text;
}
