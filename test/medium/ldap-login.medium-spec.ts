import { randomBytes } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verify } from '@node-rs/argon2';
import { Redis } from 'ioredis';
import { Attribute, Change } from 'ldapts';
import { LdapDirectory } from '../../libs/directories/ldap-directory';
import { giveGroupRole, startIamApi } from './harness/directory-api';
import { LdapServer, makeCertificate, SEARCHER } from './harness/ldap-server';
import { People } from './harness/people';
import {
  type TestApi,
  ADMIN_PASSWORD,
  configure,
  createTestDatabase,
  soon,
  type TestAnswer,
  type TestDatabase,
} from './harness/test-api';

// The real function, with its calls counted.
jest.mock('@node-rs/argon2', () => {
  const real = jest.requireActual<typeof import('@node-rs/argon2')>('@node-rs/argon2');
  return { ...real, verify: jest.fn(real.verify) };
});

const PEOPLE = 'ou=people,dc=example,dc=org';
const GROUPS = 'ou=groups,dc=example,dc=org';

function person(uid: string, more = ''): string {
  return `dn: uid=${uid},${PEOPLE}
objectClass: inetOrgPerson
uid: ${uid}
cn: ${uid} of LDAP
sn: LDAP
mail: ${uid}@example.org
userPassword: ${uid}'s password
${more}`;
}

const LDIF = `dn: dc=example,dc=org
objectClass: domain
dc: example

dn: ${SEARCHER.dn}
objectClass: person
cn: searcher
sn: searcher
userPassword: ${SEARCHER.password}

dn: ${PEOPLE}
objectClass: organizationalUnit
ou: people

dn: ${GROUPS}
objectClass: organizationalUnit
ou: groups

dn: ou=directory,dc=example,dc=org
objectClass: organizationalUnit
ou: directory

dn: ou=east,${GROUPS}
objectClass: organizationalUnit
ou: east

${person('jane', 'displayName: Jane Doe\n')}
${person('john')}
${person('nora')}
${person('leaver')}
${person('admin')}
${person('twin1', 'employeeType: twin\n')}
${person('twin2', 'employeeType: twin\n')}
${person('o(b)r*en')}
dn: uid=nopassword,${PEOPLE}
objectClass: inetOrgPerson
uid: nopassword
cn: nopassword
sn: LDAP

dn: cn=Dora,ou=directory,dc=example,dc=org
objectClass: user
objectCategory: person
sAMAccountName: Dora
userAccountControl: 512
cn: Dora
displayName: Dora of Windows
userPassword: dora's password
memberOf: CN=Domain Team,ou=directory,dc=example,dc=org
memberOf: CN=Elsewhere,dc=example,dc=org

dn: cn=Dan,ou=directory,dc=example,dc=org
objectClass: user
objectCategory: person
sAMAccountName: dan
userAccountControl: 514
cn: Dan
userPassword: dan's password

dn: cn=Domain Team,ou=directory,dc=example,dc=org
objectClass: group
cn: Domain Team
mail: team@example.org
member: cn=Dora,ou=directory,dc=example,dc=org
objectGUID:: AAECAwQFBgcICQoLDA0ODw==

dn: cn=engineers,${GROUPS}
objectClass: groupOfNames
cn: engineers
member: uid=jane,${PEOPLE}
member: uid=john,${PEOPLE}
member: uid=gone,${PEOPLE}
member: uid=admin,${PEOPLE}

dn: cn=analysts,${GROUPS}
objectClass: groupOfUniqueNames
cn: analysts
uniqueMember: uid=jane,${PEOPLE}

dn: cn=engineers,ou=east,${GROUPS}
objectClass: groupOfNames
cn: engineers
member: uid=nora,${PEOPLE}

dn: cn=shells,${GROUPS}
objectClass: posixGroup
cn: shells
gidNumber: 100
memberUid: john
`;

// Real: LDAP server, PostgreSQL, Redis, guards, pipes and filters.
describe('logins by LDAP', () => {
  let database: TestDatabase;
  let ldap: LdapServer;
  let api: TestApi;

  beforeAll(async () => {
    database = await createTestDatabase();
    ldap = await LdapServer.start(LDIF);
    api = await startIamApi(database, ldap.environment);
  });

  afterAll(async () => {
    await api?.stop();
    await ldap?.stop();
    await database?.drop();
  });

  function login(username: string, password = `${username}'s password`, at = api): Promise<TestAnswer> {
    return at.call('POST', '/login', { body: { username, password } });
  }

  async function infoOf(username: string, at = api) {
    const { body } = await at.call('GET', '/user/info', { token: await at.login(username, `${username}'s password`) });
    return { ...body, groups: body.group_info.map(({ groupname }: { groupname: string }) => groupname).sort() };
  }

  async function withApi(environment: Record<string, string>, work: (at: TestApi) => Promise<void>): Promise<void> {
    const at = await startIamApi(database, environment);
    try {
      await work(at);
    } finally {
      await at.stop();
    }
  }

  function stored(username: string): Promise<Record<string, unknown>[]> {
    return api.database.query('SELECT * FROM users WHERE username = $1', [username]);
  }

  it('imports the account and its groups at the first login', async () => {
    expect((await api.call('GET', '/login/auth_type')).body).toEqual({ auth_type: 'LDAP' });
    expect(await infoOf('jane')).toMatchObject({
      username: 'jane',
      display_name: 'Jane Doe',
      email: 'jane@example.org',
      tenant_id: null,
      groups: ['analysts', 'engineers'],
    });
    expect(await infoOf('john')).toMatchObject({ display_name: 'john of LDAP', groups: ['engineers', 'shells'] });
    expect(await stored('jane')).toEqual([expect.objectContaining({ directory: 'ldap', password_hash: null })]);
    const groups = await api.database.query(`SELECT group_name, group_object_id FROM groups WHERE directory = 'ldap'`);
    expect(groups).toContainEqual({
      group_name: 'analysts',
      group_object_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('accepts the user name in any letter case, and HTTP Basic', async () => {
    const basic = Buffer.from(`JANE:jane's password`).toString('base64');
    const { status, body } = await api.call('POST', '/login', { headers: { authorization: `Basic ${basic}` } });
    expect(status).toBe(200);
    const info = await api.call('GET', '/user/info', { token: body.token });
    expect(info.body.username).toBe('jane');
    expect(await stored('jane')).toHaveLength(1);
  });

  it('creates one account for many concurrent first logins', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => login('nora')));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(await stored('nora')).toHaveLength(1);
  });

  it('distinguishes groups of the same name', async () => {
    expect((await infoOf('nora')).groups).toEqual([`cn=engineers,ou=east,${GROUPS}`]);
  });

  it.each([
    ['a wrong password', 'jane', 'wrong'],
    ['an unknown user', 'nobody', 'wrong'],
    ['a user without a password', 'nopassword', 'wrong'],
    ['a filter as the user name', 'jane)(|(uid=*', `jane's password`],
    ['a wildcard as the user name', '*', `jane's password`],
    ['another filter', '*)(uid=*))(|(uid=*', `jane's password`],
    ['a name in another notation', '\\6aane', `jane's password`],
  ])('refuses %s', async (_what, username, password) => {
    const { status, body } = await login(username, password);
    expect([status, body.error_code]).toEqual([401, 'AUTH.UNAUTHENTICATED']);
    expect(body.error).toBe('User name or password is wrong, or the account is disabled.');
  });

  it.each([
    ['an unknown user', 'nobody'],
    ['a user of the server', 'jane'],
    ['a local account', 'admin'],
  ])('checks one password here for %s, so that the time reveals nothing', async (_who, username) => {
    jest.mocked(verify).mockClear();
    expect((await login(username, 'wrong')).status).toBe(401);
    expect(verify).toHaveBeenCalledTimes(1);
  });

  it('finds a user whose name contains filter characters', async () => {
    expect((await infoOf('o(b)r*en')).username).toBe('o(b)r*en');
  });

  it('refuses an empty password, which the server would treat as an anonymous login', async () => {
    expect((await login('jane', '')).status).toBe(400);
    const basic = Buffer.from('jane:').toString('base64');
    const answer = await api.call('POST', '/login', { headers: { authorization: `Basic ${basic}` } });
    expect([answer.status, answer.body.error_code]).toEqual([400, 'AUTH.CREDENTIALS_MISSING']);
    const directory = new LdapDirectory(configure(database.url, ldap.environment).auth.ldap!);
    expect(await directory.authenticate('jane', `jane's password`)).toMatchObject({ username: 'jane' });
    expect(await directory.authenticate('jane', '')).toBeNull();
  });

  it('checks local accounts here, and gives no directory user a local account', async () => {
    expect((await login('admin', ADMIN_PASSWORD)).status).toBe(200);
    expect((await login('admin')).status).toBe(401);
    await withApi({ ...ldap.environment, LDAP_USER_FILTER: '(mail={username})' }, async (at) => {
      const { status, body } = await login('admin@example.org', `admin's password`, at);
      expect([status, body.error_code]).toEqual([403, 'AUTH.NAME_TAKEN']);
    });
    expect(await stored('admin')).toEqual([expect.objectContaining({ directory: 'local' })]);
  });

  it('refuses a disabled account although the password is right', async () => {
    expect((await login('leaver')).status).toBe(200);
    await api.database.query(`UPDATE users SET to_date = now() WHERE username = 'leaver'`);
    expect((await login('leaver')).status).toBe(401);
    const [sessions] = await api.database.query<{ n: number }[]>(
      `SELECT count(*) AS n FROM sessions JOIN users USING (user_id) WHERE username = 'leaver'`,
    );
    expect(sessions).toEqual({ n: 1 });
  });

  it('refuses a name that the server lists twice', async () => {
    await withApi(
      { ...ldap.environment, LDAP_USER_FILTER: '(&(employeeType=twin)(|(uid={username})(sn=LDAP)))' },
      async (at) => {
        const { status, body } = await login('twin1', `twin1's password`, at);
        expect([status, body.error_code]).toEqual([401, 'AUTH.DIRECTORY_REFUSED']);
      },
    );
  });

  it('limits failed logins, however the name is spelt', async () => {
    const limited = { LOGIN_ATTEMPTS: '3', REDIS_PREFIX: `ldap-${randomBytes(4).toString('hex')}` };
    await withApi({ ...ldap.environment, ...limited }, async (at) => {
      // The server accepts all three spellings of the name.
      for (const spelling of ['jane', ' JANE ', 'ja\u00adne']) {
        expect((await login(spelling, 'wrong', at)).status).toBe(401);
      }
      const refused = await login('jane', `jane's password`, at);
      expect([refused.status, refused.body.error_code]).toEqual([429, 'AUTH.TOO_MANY_ATTEMPTS']);
    });
    const redis = new Redis(process.env['TEST_REDIS_URL']!);
    try {
      expect(await redis.keys(`${limited.REDIS_PREFIX}:login:name:*`)).toHaveLength(1);
    } finally {
      redis.disconnect();
    }
  });

  it('reads entries in the format of Active Directory', async () => {
    const windows = 'ou=directory,dc=example,dc=org';
    const environment = {
      LDAP_SERVER_TYPE: 'ACTIVE_DIRECTORY',
      LDAP_USER_BASE_DN: windows,
      LDAP_GROUP_BASE_DN: windows,
      // The default also tests bits, which only Microsoft's server supports.
      LDAP_USER_FILTER:
        '(&(objectCategory=person)(objectClass=user)(userAccountControl=512)(sAMAccountName={username}))',
    };
    await withApi({ ...ldap.environment, ...environment }, async (at) => {
      expect(await infoOf('dora', at)).toMatchObject({
        username: 'dora',
        display_name: 'Dora of Windows',
        email: 'dora@localhost',
        groups: ['Domain Team'],
      });
      const { body } = await at.call('GET', '/platform/shared/admin/sync/group/domain%20team', {
        token: await at.login(),
      });
      expect(body).toMatchObject({
        group_name: 'Domain Team',
        group_mail: 'team@example.org',
        group_object_id: '03020100-0504-0706-0809-0a0b0c0d0e0f',
        group_type: 'group',
      });
      expect((await infoOf('dora', at)).groups).toEqual(['Domain Team']);
      expect((await login('dan', `dan's password`, at)).status).toBe(401);
    });
  });

  describe('groups', () => {
    const engineers = `cn=engineers,${GROUPS}`;

    async function changeMember(operation: 'add' | 'delete', uid: string): Promise<void> {
      const values = [`uid=${uid},${PEOPLE}`];
      const modification = new Attribute({ type: 'member', values });
      await ldap.change((client) => client.modify(engineers, new Change({ operation, modification })));
    }

    it('give their roles, and take them away at the next login', async () => {
      const token = await api.login('john', `john's password`);
      const tenantId = await giveGroupRole(api, 'engineers', 'CAN MANAGE CLUSTER');
      expect((await api.call('POST', `/user/select/${tenantId}`, { token })).status).toBe(201);
      const roles = await api.call('GET', `/user/info/roles?tenant_id=${tenantId}`, { token });
      expect(roles.body.group_roles).toEqual(['CAN MANAGE CLUSTER']);
      await changeMember('delete', 'john');
      try {
        expect((await infoOf('john')).groups).toEqual(['shells']);
        await soon(async () => {
          const { body } = await api.call('GET', '/user/info/roles', { token });
          expect(body.group_roles).toEqual([]);
        });
        expect((await api.call('POST', `/user/select/${tenantId}`, { token })).status).toBe(403);
      } finally {
        await changeMember('add', 'john');
      }
      expect((await infoOf('john')).groups).toEqual(['engineers', 'shells']);
    });

    it('of the built-in directory are left alone', async () => {
      await login('jane');
      await api.database.query(
        `WITH g AS (INSERT INTO groups (group_name) VALUES ('by hand') RETURNING group_id)
         INSERT INTO group_users (group_id, user_id) SELECT g.group_id, u.user_id FROM g, users u WHERE username = 'jane'`,
      );
      expect((await infoOf('jane')).groups).toEqual(['analysts', 'by hand', 'engineers']);
    });

    it('are synchronized with their members', async () => {
      const token = await api.login();
      await new People(api).user([], { username: 'nora.local' });
      const path = '/platform/shared/admin/sync/group';
      const { status, body } = await api.call('GET', `${path}/engineers`, { token });
      expect([status, body.error_code]).toEqual([400, 'AUTH.DIRECTORY_REFUSED']);

      await changeMember('add', 'twin1');
      await withApi({ ...ldap.environment, LDAP_GROUP_BASE_DN: engineers }, async (at) => {
        const synced = await at.call('GET', `${path}/engineers`, { token: await at.login() });
        expect(synced.status).toBe(200);
        expect(synced.body).toEqual({
          group_id: expect.any(Number),
          group_name: 'engineers',
          group_mail: null,
          group_object_id: expect.any(String),
          group_type: 'groupOfNames',
          from_date: expect.any(String),
          to_date: 'infinity',
        });
      });
      const members = async () => {
        const rows = await api.database.query<{ username: string }[]>(
          `SELECT u.username FROM group_users gu JOIN groups g USING (group_id) JOIN users u USING (user_id)
           WHERE g.group_name = 'engineers' AND gu.to_date = 'infinity' ORDER BY 1`,
        );
        return rows.map(({ username }) => username);
      };
      // Neither the deleted user nor the local administrator of the same name.
      expect(await members()).toEqual(['jane', 'john', 'twin1']);

      await changeMember('delete', 'twin1');
      await withApi({ ...ldap.environment, LDAP_GROUP_BASE_DN: engineers }, async (at) => {
        expect((await at.call('GET', `${path}/engineers`, { token: await at.login() })).status).toBe(200);
      });
      expect(await members()).toEqual(['jane', 'john']);

      await withApi({ ...ldap.environment, LDAP_GROUP_BASE_DN: PEOPLE }, async (at) => {
        const gone = await at.call('GET', `${path}/engineers`, { token: await at.login() });
        expect([gone.status, gone.body.error_code]).toEqual([404, 'GROUP.NOT_FOUND']);
      });
      expect(await members()).toEqual([]);
    });

    it('are read from an attribute of the users, if it is set', async () => {
      const memberOf = { ...ldap.environment, LDAP_MEMBER_OF_ATTRIBUTE: 'seeAlso' };
      const seeAlso = new Attribute({
        type: 'seeAlso',
        values: [`cn=analysts,${GROUPS}`, `cn=searcher,dc=example,dc=org`],
      });
      await ldap.change((client) =>
        client.modify(`uid=twin2,${PEOPLE}`, new Change({ operation: 'replace', modification: seeAlso })),
      );
      await withApi(memberOf, async (at) => {
        expect((await infoOf('twin2', at)).groups).toEqual(['analysts']);
        const token = await at.login();
        expect((await at.call('GET', '/platform/shared/admin/sync/group/analysts', { token })).status).toBe(200);
        const rows = await at.database.query<{ username: string }[]>(
          `SELECT u.username FROM group_users gu JOIN groups g USING (group_id) JOIN users u USING (user_id)
           WHERE g.group_name = 'analysts' AND gu.to_date = 'infinity'`,
        );
        expect(rows).toEqual([{ username: 'twin2' }]);
      });
    });
  });

  describe('synchronizing a user', () => {
    const path = '/platform/shared/admin/sync/user';

    it('stores a user who never logged in, with its groups, and refreshes it', async () => {
      const token = await api.login();
      const first = await api.call('GET', `${path}/twin1`, { token });
      expect([first.status, first.body]).toEqual([
        200,
        {
          user_id: expect.any(Number),
          username: 'twin1',
          display_name: 'twin1 of LDAP',
          email: 'twin1@example.org',
          from_date: expect.any(String),
          to_date: 'infinity',
        },
      ]);
      const mail = new Attribute({ type: 'mail', values: ['Twin.One@example.org'] });
      await ldap.change((client) =>
        client.modify(`uid=twin1,${PEOPLE}`, new Change({ operation: 'replace', modification: mail })),
      );
      const second = await api.call('GET', `${path}/TWIN1`, { token });
      expect(second.body).toMatchObject({ user_id: first.body.user_id, email: 'twin.one@example.org' });
    });

    it('is in the audit log although it is a GET', async () => {
      const token = await api.login();
      await api.call('GET', `${path}/twin1`, { token });
      await api.call('GET', `${path}/nobody.of.that.name`, { token });
      const events = await api.database.query<{ username: string; outcome: string; subject: object }[]>(
        `SELECT username, outcome, subject FROM audit_events WHERE operation = 'syncUser' ORDER BY audit_event_id DESC LIMIT 2`,
      );
      expect(events).toMatchObject([
        { username: 'admin', outcome: 'refused', subject: { username: 'nobody.of.that.name' } },
        { username: 'admin', outcome: 'done', subject: { username: 'twin1' } },
      ]);
    });

    it('leaves an email address with its owner', async () => {
      const address = new Attribute({ type: 'mail', values: ['admin@localhost'] });
      await ldap.change(async (client) => {
        await client.modify(`uid=twin2,${PEOPLE}`, new Change({ operation: 'replace', modification: address }));
        await client.modify(`uid=john,${PEOPLE}`, new Change({ operation: 'replace', modification: address }));
      });
      await api.database.query(`DELETE FROM group_users`);
      await api.database.query(
        `DELETE FROM sessions WHERE user_id IN (SELECT user_id FROM users WHERE username = 'twin2')`,
      );
      await api.database.query(`DELETE FROM users WHERE username = 'twin2'`);
      const token = await api.login();
      const known = await api.call('GET', `${path}/john`, { token });
      expect([known.status, known.body.email]).toEqual([200, 'john@example.org']);
      const added = await api.call('GET', `${path}/twin2`, { token });
      expect([added.status, added.body.email]).toEqual([200, 'twin2@localhost']);
    });

    it('disables a deleted user and ends its sessions', async () => {
      await ldap.change((client) =>
        client.add(`uid=fired,${PEOPLE}`, {
          objectClass: 'inetOrgPerson',
          uid: 'fired',
          cn: 'fired',
          sn: 'LDAP',
          userPassword: `fired's password`,
        }),
      );
      const token = await api.login('fired', `fired's password`);
      await ldap.change((client) => client.del(`uid=fired,${PEOPLE}`));
      const { status, body } = await api.call('GET', `${path}/fired`, { token: await api.login() });
      expect([status, body.error]).toEqual([
        404,
        'The directory has no user named fired. The account here is disabled.',
      ]);
      await soon(async () => expect((await api.call('GET', '/user/info', { token })).status).toBe(401));
      expect(await stored('fired')).toEqual([expect.objectContaining({ to_date: expect.any(Date) })]);
      const unknown = await api.call('GET', `${path}/nobody`, { token: await api.login() });
      expect([unknown.status, unknown.body.error]).toEqual([404, 'The directory has no user named nobody.']);
    });

    it('returns a local account as it is stored', async () => {
      const { status, body } = await api.call('GET', `${path}/admin`, { token: await api.login() });
      expect([status, body.username]).toEqual([200, 'admin']);
    });

    it('is for administrators', async () => {
      const token = await api.login('jane', `jane's password`);
      expect((await api.call('GET', `${path}/jane`, { token })).status).toBe(403);
      expect((await api.call('GET', '/platform/shared/admin/sync/group/engineers', { token })).status).toBe(403);
      expect((await api.call('GET', `${path}/jane`)).status).toBe(401);
    });
  });

  describe('a server that does not answer', () => {
    async function expectUnavailable(at: TestApi, reason: RegExp): Promise<void> {
      const { status, body, headers } = await login('jane', `jane's password`, at);
      expect([status, body.error_code]).toEqual([503, 'AUTH.DIRECTORY_UNAVAILABLE']);
      expect(body.error).toMatch(reason);
      expect(JSON.stringify(body)).not.toContain(SEARCHER.password);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await login('admin', ADMIN_PASSWORD, at)).status).toBe(200);
    }

    it('is named, does not count as a failed login, and does not keep local administrators out', async () => {
      const environment = { ...ldap.environment, LDAP_URL: 'ldap://127.0.0.1:1', LOGIN_ATTEMPTS: '2' };
      await withApi(environment, async (at) => {
        for (const _ of [1, 2, 3]) await expectUnavailable(at, /LDAP server 127\.0\.0\.1:1 cannot be reached/);
        const sync = await at.call('GET', '/platform/shared/admin/sync/user/jane', { token: await at.login() });
        expect(sync.status).toBe(503);
      });
      expect(await stored('jane')).toEqual([expect.objectContaining({ to_date: Infinity })]);
    });

    it('is waited for only until the timeout', async () => {
      await withApi({ ...ldap.environment, LDAP_TIMEOUT_MS: '500' }, async (at) => {
        await ldap.halt();
        try {
          await expectUnavailable(at, /does not answer/);
        } finally {
          ldap.resume();
        }
      });
    });

    it('includes one that refuses the account of the search', async () => {
      await withApi({ ...ldap.environment, LDAP_BIND_PASSWORD: 'wrong' }, (at) =>
        expectUnavailable(at, /refuses the search account: check LDAP_BIND_DN/),
      );
    });
  });

  describe('encryption', () => {
    it.each(['ldaps', 'start-tls'] as const)(
      '%s is used, and only with a certificate that is trusted',
      async (encryption) => {
        const secure = await LdapServer.start(LDIF, encryption);
        const startTls = String(encryption === 'start-tls');
        const environment = { ...secure.environment, LDAP_START_TLS: startTls };
        try {
          await withApi({ ...environment, LDAP_CA_FILE: secure.caFile }, async (at) => {
            expect((await login('john', `john's password`, at)).status).toBe(200);
            expect((await login('john', 'wrong', at)).status).toBe(401);
          });
          const other = await makeCertificate(await mkdtemp(join(tmpdir(), 'ldap-')));
          await withApi({ ...environment, LDAP_CA_FILE: other.pem }, async (at) => {
            const { status, body } = await login('john', `john's password`, at);
            expect([status, body.error]).toEqual([503, expect.stringMatching(/CERT|certificate/i)]);
          });
          await withApi(environment, async (at) =>
            expect((await login('john', `john's password`, at)).status).toBe(503),
          );
          await withApi({ ...environment, LDAP_TLS_VERIFY: 'false' }, async (at) =>
            expect((await login('john', `john's password`, at)).status).toBe(200),
          );
        } finally {
          await secure.stop();
        }
      },
    );

    it('is required: a server that offers none is not used instead', async () => {
      await withApi({ ...ldap.environment, LDAP_START_TLS: 'true' }, async (at) =>
        expect((await login('john', `john's password`, at)).status).toBe(503),
      );
    });
  });
});
