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
  use_unnoted: false,
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
  it('reads a session once while it is fresh, also for requests at the same time', async () => {
    const find = jest.fn(() => Promise.resolve(SESSION));
    const authenticator = authenticatorOver(find);
    await Promise.all([authenticator.authenticate(CLAIMS), authenticator.authenticate(CLAIMS)]);
    await authenticator.authenticate(CLAIMS);
    expect(find).toHaveBeenCalledTimes(1);
  });

  it('reads every time when nothing may be kept', async () => {
    const find = jest.fn(() => Promise.resolve(SESSION));
    const authenticator = authenticatorOver(find, 0);
    await authenticator.authenticate(CLAIMS);
    await authenticator.authenticate(CLAIMS);
    expect(find).toHaveBeenCalledTimes(2);
  });

  it.each(['a', 'user:7', ''])('reads again after the wake-up %p', async (payload) => {
    const find = jest.fn(() => Promise.resolve(SESSION));
    const authenticator = authenticatorOver(find);
    await authenticator.authenticate(CLAIMS);
    authenticator.forget('b');
    authenticator.forget('user:8');
    authenticator.forget(payload);
    await authenticator.authenticate(CLAIMS);
    expect(find).toHaveBeenCalledTimes(2);
  });

  it('does not keep what was being read when the session changed', async () => {
    let arrive: (row: SessionRow) => void = () => undefined;
    const before = new Promise<SessionRow>((resolve) => (arrive = resolve));
    const find = jest
      .fn()
      .mockReturnValueOnce(before)
      .mockResolvedValue({ ...SESSION, revoked: true });
    const authenticator = authenticatorOver(find);
    const early = authenticator.authenticate(CLAIMS);
    await Promise.resolve();
    authenticator.forget('a');
    arrive(SESSION);
    await early;
    await expect(authenticator.authenticate(CLAIMS)).rejects.toThrow('The session was ended. Log in again.');
  });

  it.each<[Partial<SessionRow> | null, string]>([
    [null, 'The session of the token does not exist. Log in again.'],
    [{ user_id: 8 }, 'The session of the token does not exist. Log in again.'],
    [{ revoked: true }, 'The session was ended. Log in again.'],
    [{ expired: true }, 'The session has expired. Log in again.'],
    [{ user_disabled: true }, 'The account is disabled.'],
    [{ tenant_closed: true }, 'The tenant of the session is closed. Log in again.'],
  ])('refuses %p', async (change, message) => {
    const authenticator = authenticatorOver(() => Promise.resolve(change && { ...SESSION, ...change }));
    await expect(authenticator.authenticate(CLAIMS)).rejects.toMatchObject({ kind: 'unauthenticated', message });
  });

  it('admits only the token that was given out for the session, also while the session is known', async () => {
    const find = jest.fn(() => Promise.resolve(SESSION));
    const authenticator = authenticatorOver(find);
    const forged = { ...CLAIMS, tokenHash: 'forged' };
    await authenticator.authenticate(CLAIMS);
    await expect(authenticator.authenticate(forged)).rejects.toThrow('The token is not valid.');
    await expect(authenticator.authenticate(forged)).rejects.toThrow('The token is not valid.');
    await expect(authenticator.authenticate(CLAIMS)).resolves.toMatchObject({ userId: 7 });
  });

  it('admits a token beside the name of its own user only', async () => {
    const authenticator = authenticatorOver(() => Promise.resolve(SESSION));
    await expect(authenticator.authenticate({ ...CLAIMS, username: 'Ada' })).resolves.toMatchObject({ userId: 7 });
    for (const username of ['bob', ''])
      await expect(authenticator.authenticate({ ...CLAIMS, username })).rejects.toThrow('not one of this user');
  });

  it('looks at callers again by what their sessions have become, and by the end of their tokens', async () => {
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

  it('admits the token of a session that was made before hashes were kept', async () => {
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
