import type { Request } from 'express';
import type { Config } from '../../../config/config';
import type { Logger } from '../../../platform/logging/logger';
import type { PgListener } from '../../../platform/wakeups/pg-listener';
import type { AccessTokens } from './access-tokens';
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
const REQUEST = {} as Request;

function authenticatorOver(
  find: () => Promise<SessionRow | null>,
  sessionCacheMs = 1000,
  presented = () => 'h',
): SessionAuthenticator {
  return new SessionAuthenticator(
    { auth: { sessionCacheMs } } as Config,
    { verify: () => Promise.resolve({ userId: 7, sessionId: 'a', tokenHash: presented() }) } as unknown as AccessTokens,
    { find } as unknown as SessionsRepository,
    {} as PgListener,
    {} as Logger,
  );
}

describe('SessionAuthenticator', () => {
  it('reads a session once while it is fresh, also for requests at the same time', async () => {
    const find = jest.fn(() => Promise.resolve(SESSION));
    const authenticator = authenticatorOver(find);
    await Promise.all([authenticator.authenticate(REQUEST), authenticator.authenticate(REQUEST)]);
    await authenticator.authenticate(REQUEST);
    expect(find).toHaveBeenCalledTimes(1);
  });

  it('reads every time when nothing may be kept', async () => {
    const find = jest.fn(() => Promise.resolve(SESSION));
    const authenticator = authenticatorOver(find, 0);
    await authenticator.authenticate(REQUEST);
    await authenticator.authenticate(REQUEST);
    expect(find).toHaveBeenCalledTimes(2);
  });

  it.each(['a', 'user:7', ''])('reads again after the wake-up %p', async (payload) => {
    const find = jest.fn(() => Promise.resolve(SESSION));
    const authenticator = authenticatorOver(find);
    await authenticator.authenticate(REQUEST);
    authenticator.forget('b');
    authenticator.forget('user:8');
    authenticator.forget(payload);
    await authenticator.authenticate(REQUEST);
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
    const early = authenticator.authenticate(REQUEST);
    await Promise.resolve();
    authenticator.forget('a');
    arrive(SESSION);
    await early;
    await expect(authenticator.authenticate(REQUEST)).rejects.toThrow('The session was ended. Log in again.');
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
    await expect(authenticator.authenticate(REQUEST)).rejects.toMatchObject({ kind: 'unauthenticated', message });
  });

  it('admits only the token that was given out for the session, also while the session is known', async () => {
    let token = 'h';
    const find = jest.fn(() => Promise.resolve(SESSION));
    const authenticator = authenticatorOver(find, 1000, () => token);
    await authenticator.authenticate(REQUEST);
    token = 'forged';
    await expect(authenticator.authenticate(REQUEST)).rejects.toThrow('The token is not valid.');
    await expect(authenticator.authenticate(REQUEST)).rejects.toThrow('The token is not valid.');
    token = 'h';
    await expect(authenticator.authenticate(REQUEST)).resolves.toMatchObject({ userId: 7 });
  });

  it('admits the token of a session that was made before hashes were kept', async () => {
    const authenticator = authenticatorOver(() => Promise.resolve({ ...SESSION, token_hash: null }));
    await expect(authenticator.authenticate(REQUEST)).resolves.toMatchObject({ sessionKind: 'login' });
  });

  it.each<[SessionRow['roles'], string | null]>([
    [['USER'], 't'],
    [['PLATFORM ADMIN'], 't'],
    [['PLATFORM BILLING'], 't'],
    [[], null],
  ])('with the roles %p acts in the tenant %p', async (roles, tenantId) => {
    const authenticator = authenticatorOver(() => Promise.resolve({ ...SESSION, roles }));
    await expect(authenticator.authenticate(REQUEST)).resolves.toMatchObject({ tenantId });
  });
});
