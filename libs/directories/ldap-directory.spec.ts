import { FilterParser } from 'ldapts';
import { escaped, LdapDirectory } from './ldap-directory';

describe('escaped', () => {
  it.each([
    ['jane', 'jane'],
    ['*', '\\2a'],
    ['*)(uid=*', '\\2a\\29\\28uid=\\2a'],
    ['cn=a\\,b,dc=example', 'cn=a\\5c,b,dc=example'],
    ['nul\u0000byte', 'nul\\00byte'],
    ['Zoë 名', 'Zoë 名'],
  ])('writes %j as %j', (value, expected) => {
    expect(escaped(value)).toBe(expected);
  });

  it.each(['*)(uid=*', 'o(b)r*en', 'back\\slash', '{dn}', '\\2a'])('keeps %j one value', (value) => {
    const filter = FilterParser.parseString(`(&(objectClass=person)(uid=${escaped(value)}))`);
    expect(filter).toMatchObject({ filters: [{}, { attribute: 'uid', value }] });
  });
});

describe('LdapDirectory', () => {
  const directory = new LdapDirectory({
    // Nothing listens there.
    url: 'ldap://127.0.0.1:1',
    startTls: false,
    ca: null,
    verify: true,
    bindDn: null,
    bindPassword: '',
    userBaseDn: 'dc=example,dc=org',
    userFilter: '(uid={username})',
    usernameAttribute: 'uid',
    emailAttribute: 'mail',
    displayNameAttribute: 'displayName',
    groupBaseDn: null,
    groupFilter: '(member={dn})',
    groupNameAttribute: 'cn',
    groupMailAttribute: 'mail',
    groupIdAttribute: 'entryUUID',
    memberOfAttribute: null,
    timeoutMs: 30_000,
  });

  it('refuses an empty password without calling the server: many servers would accept it', async () => {
    await expect(directory.authenticate('jane', '')).resolves.toBeNull();
  });

  it('names the server that cannot be reached', async () => {
    await expect(directory.authenticate('jane', 'secret')).rejects.toThrow(
      /^LDAP server 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)$/,
    );
  });
});
