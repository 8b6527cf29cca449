import type { ExecutionContext } from '@nestjs/common';
import { Responses } from '../operation';
import type { OperationOptions } from '../operation-options';
import { type Access, admittedRoles, Allow } from '../../kernel/auth/access';
import { AccessGuard } from './access.guard';
import type { Authenticator, TokenClaims, WorkspaceAuthorizer } from './authentication';
import type { LiveAccess } from './live-access';
import type { AuthenticatedRequest } from './request-principal';
import { DomainError } from '../../kernel/errors/domain-error';
import type { Principal } from '../../kernel/auth/principal';
import { EVERY_TENANT_ROLE, type Role, ROLES } from '../../kernel/auth/roles';

function principalWith(role: Role): Principal {
  return {
    userId: 7,
    username: 'ada',
    sessionId: 'a',
    sessionKind: 'login',
    tenantId: 't',
    roles: new Set([role]),
  };
}

/** True if the guard admits a caller with the role, who has every workspace permission. */
async function isAdmitted(access: Access, role: Role): Promise<boolean> {
  const operation: OperationOptions = {
    method: 'GET',
    path: '/x',
    id: 'x',
    summary: '',
    tag: '',
    access,
    response: Responses.none,
  };
  const guard = new AccessGuard(
    { authenticate: () => Promise.resolve(principalWith(role)) } as unknown as Authenticator,
    {
      authorize: () => Promise.resolve({ workspaceId: 1 }),
    } as unknown as WorkspaceAuthorizer,
    { setChecker: () => undefined } as unknown as LiveAccess,
  );
  const request = { params: { workspace_id: '1' }, query: {}, headers: {}, operation, claims: {} };
  const context = {
    switchToHttp: () => ({ getRequest: () => request }),
  } as unknown as ExecutionContext;
  return guard.canActivate(context).catch((error: { kind?: string }) => {
    if (error.kind !== 'forbidden') throw error;
    return false;
  });
}

describe('AccessGuard', () => {
  const accesses: [string, Access][] = [
    ['signed in', Allow.signedIn],
    ['any role of the tenant', Allow.tenant()],
    ['one role of the tenant', Allow.tenant(['CAN MANAGE CLUSTER'])],
    ['a platform role within a tenant', Allow.tenant(['PLATFORM ADMIN'])],
    ['some roles', Allow.platform(['PLATFORM ADMIN', 'ADMIN'])],
    ['billing', Allow.platform(['PLATFORM BILLING'])],
    ['every role of the tenant, and billing', Allow.tenant([...EVERY_TENANT_ROLE, 'PLATFORM BILLING'])],
    ['a workspace permission', Allow.workspace('RUN')],
    ['a workspace permission if a workspace is named', Allow.workspaceIfNamed('RUN')],
  ];

  it.each(accesses.flatMap(([what, access]) => ROLES.map((role) => [what, role, access] as const)))(
    'for "%s" treats %s as the rules list it',
    async (_what, role, access) => {
      await expect(isAdmitted(access, role)).resolves.toBe(admittedRoles(access).includes(role));
    },
  );

  it.each([Allow.everyone, Allow.nodes, Allow.bootstrap])('lists no role for %p', (access) => {
    expect(admittedRoles(access)).toEqual([]);
  });

  it('checks open requests of two browsers by their own sessions', async () => {
    const ended = new DomainError('unauthenticated', 'AUTH.UNAUTHENTICATED', 'The session was ended.');
    const guard = new AccessGuard(
      {
        reauthenticate: (claims: TokenClaims[]) =>
          Promise.resolve(claims.map(({ userId }) => (userId === 7 ? principalWith('USER') : ended))),
      } as unknown as Authenticator,
      {} as WorkspaceAuthorizer,
      { setChecker: () => undefined } as unknown as LiveAccess,
    );
    // Requests with a cookie have no header that names their caller.
    const open = [7, 8].map((userId) => ({
      headers: {},
      operation: { access: Allow.signedIn },
      principal: principalWith('USER'),
      claims: { userId, sessionId: `s${userId}`, tokenHash: `t${userId}` },
    }));
    await expect(guard.recheck(open as unknown as AuthenticatedRequest[])).resolves.toEqual([null, ended]);
  });
});
