import type { Config } from '../../../../config/config';
import type { TokenClaims } from '../../../../platform/http/auth/authentication';
import type { Logger } from '../../../../platform/kernel/logging/logger';
import type { PgListener } from '../../../../platform/kernel/notifications/pg-listener';
import { SessionAuthenticator } from './session-authenticator';
import type { SessionRow, SessionsRepository } from './sessions.repository';

const SESSION: SessionRow = {
  session_id: 'a',
  user_id: 7,
  username: 'ada',
  kind: 'login',
  token_hash: 'h',
  tenant_id: 't',
  roles: ['USER'],
  revoked: false,
  expired: false,
  user_disabled: false,
  tenant_closed: false,
  last_used_stale: false,
};
const CLAIMS: TokenClaims = { userId: 7, sessionId: 'a', tokenHash: 'h' };

function authenticatorOver(
  read: (() => Promise<SessionRow | null>) | Partial<SessionsRepository>,
  sessionCacheMs = 1000,
): SessionAuthenticator {
  return new SessionAuthenticator(
    { auth: { sessionCacheMs } } as Config,
    (typeof read === 'function' ? { find: read } : read) as SessionsRepository,
    {} as PgListener,
    {} as Logger,
  );
}

describe('SessionAuthenticator', () => {
  it('reads a cached session once, also for concurrent requests', async () => {
    const find = jest.fn(() => Promise.resolve(SESSION));
    const authenticator = authenticatorOver(find);
    await Promise.all([authenticator.authenticate(CLAIMS), authenticator.authenticate(CLAIMS)]);
    await authenticator.authenticate(CLAIMS);
    expect(find).toHaveBeenCalledTimes(1);
  });

  it('reads every time if caching is off', async () => {
    const find = jest.fn(() => Promise.resolve(SESSION));
    const authenticator = authenticatorOver(find, 0);
    await authenticator.authenticate(CLAIMS);
    await authenticator.authenticate(CLAIMS);
    expect(find).toHaveBeenCalledTimes(2);
  });

  it.each(['a', 'user:7', ''])('reads again after the notification %p', async (payload) => {
    const find = jest.fn(() => Promise.resolve(SESSION));
    const authenticator = authenticatorOver(find);
    await authenticator.authenticate(CLAIMS);
    authenticator.invalidate('b');
    authenticator.invalidate('user:8');
    authenticator.invalidate(payload);
    await authenticator.authenticate(CLAIMS);
    expect(find).toHaveBeenCalledTimes(2);
  });

  it('does not cache a read during which the session changed', async () => {
    let resolveRead: (row: SessionRow) => void = () => undefined;
    const before = new Promise<SessionRow>((resolve) => (resolveRead = resolve));
    const find = jest
      .fn()
      .mockReturnValueOnce(before)
      .mockResolvedValue({ ...SESSION, revoked: true });
    const authenticator = authenticatorOver(find);
    const early = authenticator.authenticate(CLAIMS);
    await Promise.resolve();
    authenticator.invalidate('a');
    resolveRead(SESSION);
    await early;
    await expect(authenticator.authenticate(CLAIMS)).rejects.toThrow('The session was ended. Log in again.');
  });

  it.each<[Partial<SessionRow> | null, string]>([
    [null, 'The session of the token does not exist. Log in again.'],
    [{ user_id: 8 }, 'The session of the token does not exist. Log in again.'],
    [{ revoked: true }, 'The session was ended. Log in again.'],
    [{ expired: true }, 'The session has expired. Log in again.'],
    [{ user_disabled: true }, 'The account is disabled.'],
    [{ tenant_closed: true }, 'The tenant of the session was deleted. Log in again.'],
  ])('refuses %p', async (change, message) => {
    const authenticator = authenticatorOver(() => Promise.resolve(change && { ...SESSION, ...change }));
    await expect(authenticator.authenticate(CLAIMS)).rejects.toMatchObject({ kind: 'unauthenticated', message });
  });

  it('admits only the token that was issued for the session, also while the session is cached', async () => {
    const find = jest.fn(() => Promise.resolve(SESSION));
    const authenticator = authenticatorOver(find);
    const forged = { ...CLAIMS, tokenHash: 'forged' };
    await authenticator.authenticate(CLAIMS);
    await expect(authenticator.authenticate(forged)).rejects.toThrow('The token is not valid.');
    await expect(authenticator.authenticate(forged)).rejects.toThrow('The token is not valid.');
    await expect(authenticator.authenticate(CLAIMS)).resolves.toMatchObject({ userId: 7 });
  });

  it('admits a token with a user name only if it is the name of its owner', async () => {
    const authenticator = authenticatorOver(() => Promise.resolve(SESSION));
    await expect(authenticator.authenticate({ ...CLAIMS, username: 'Ada' })).resolves.toMatchObject({ userId: 7 });
    for (const username of ['bob', ''])
      await expect(authenticator.authenticate({ ...CLAIMS, username })).rejects.toThrow('belongs to another user');
  });

  it('reauthenticates callers by the current state of their sessions and the expiry of their tokens', async () => {
    const findAll = (ids: string[]) => Promise.resolve(ids.includes('a') ? [SESSION] : []);
    const authenticator = authenticatorOver({ findAll });
    const expired = { ...CLAIMS, exp: Date.now() / 1000 - 1 };
    const found = await authenticator.reauthenticate([CLAIMS, { ...CLAIMS, sessionId: 'b' }, expired]);
    expect(found).toMatchObject([
      { userId: 7 },
      { message: 'The session of the token does not exist. Log in again.' },
      { message: 'The token has expired. Log in again.' },
    ]);
  });

  it('admits the token of a session that was created before hashes were stored', async () => {
    const authenticator = authenticatorOver(() => Promise.resolve({ ...SESSION, token_hash: null }));
    await expect(authenticator.authenticate(CLAIMS)).resolves.toMatchObject({ sessionKind: 'login' });
  });

  it.each<[SessionRow['roles'], string | null]>([
    [['USER'], 't'],
    [['PLATFORM ADMIN'], 't'],
    [['PLATFORM BILLING'], 't'],
    [[], null],
  ])('with the roles %p acts in the tenant %p', async (roles, tenantId) => {
    const authenticator = authenticatorOver(() => Promise.resolve({ ...SESSION, roles }));
    await expect(authenticator.authenticate(CLAIMS)).resolves.toMatchObject({ tenantId });
  });
});
