import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { decode, verify } from 'jsonwebtoken';
import { Config } from '../../../src/config/config';
import { tokenHash } from '../../../src/modules/foundation/iam/sessions/access-tokens';
import { SessionAuthenticator } from '../../../src/modules/foundation/iam/sessions/session-authenticator';
import { type SessionRow, SessionsRepository } from '../../../src/modules/foundation/iam/sessions/sessions.repository';
import { type Access, Allow } from '../../../src/platform/kernel/auth/access';
import { AccessGuard } from '../../../src/platform/http/auth/access.guard';
import {
  type TokenClaims,
  WORKSPACE_AUTHORIZER,
  type WorkspaceAuthorizer,
} from '../../../src/platform/http/auth/authentication';
import { bearerToken } from '../../../src/platform/http/auth/presented-token';
import type { Principal } from '../../../src/platform/kernel/auth/principal';
import type { AuthenticatedRequest } from '../../../src/platform/http/auth/request-principal';
import type { Role } from '../../../src/platform/kernel/auth/roles';
import { TokenGuard } from '../../../src/platform/http/auth/token.guard';
import type { Cell } from './cells';
import { AccessMatrix, concurrently, type Failure, firstFailure } from './matrix';
import { Declarations, wideningsOf } from './mutations';

const MINUTES = 60_000;

/**
 * Proves that the matrix can fail: widens each restrictive declaration in each way and drops each check of the guard,
 * one at a time; a cell must fail each time. access-mutations.medium-spec.ts shows that all cells hold without a change.
 * Real: the whole API, PostgreSQL, Redis. Removed: declarations and steps of the guard.
 */
describe('the access matrix notices', () => {
  let matrix: AccessMatrix;

  beforeAll(async () => {
    matrix = await AccessMatrix.start();
  }, 2 * MINUTES);

  afterAll(() => matrix?.stop());

  it(
    'each widened declaration of access',
    async () => {
      const declarations = new Declarations(matrix.app);
      let count = 0;
      const unnoticed = await concurrently(matrix.operations, 4, async ({ id }) => {
        const survivors: string[] = [];
        for (const { name, access, letsIn } of wideningsOf(declarations.accessOf(id))) {
          count += 1;
          const likely = ({ caller }: Cell) => letsIn(caller);
          const noticed = await declarations.declaring(id, access, () => firstFailure(matrix, [id], { likely }));
          if (noticed === null) survivors.push(`${id}: ${name}`);
        }
        return survivors;
      });
      console.log(`Access mutations: ${count} declarations widened`);
      expect(count).toBeGreaterThan(600);
      expect(unnoticed.flat()).toEqual([]);
    },
    20 * MINUTES,
  );

  describe('a missing check of the guard:', () => {
    interface Admitting {
      admit(request: AuthenticatedRequest, access: Access): Promise<void>;
    }

    interface Handling {
      handleRequest(
        error: Error | null,
        claims: TokenClaims | false,
        reasons: unknown,
        context: ExecutionContext,
      ): TokenClaims;
    }

    /** Makes the guard enforce another access than the declared one. */
    function enforce(instead: (access: Access) => Access): void {
      const prototype = AccessGuard.prototype as unknown as Admitting;
      const admit = prototype.admit;
      jest.spyOn(prototype, 'admit').mockImplementation(function (this: Admitting, request, access) {
        return admit.call(this, request, instead(access));
      });
    }

    function changeSession(change: (session: SessionRow) => Partial<SessionRow>): void {
      const sessions = matrix.app.get(SessionsRepository, { strict: false });
      const find = sessions.find.bind(sessions);
      jest.spyOn(sessions, 'find').mockImplementation(async (id) => {
        const session = await find(id);
        return session && { ...session, ...change(session) };
      });
    }

    /** Makes the guard admit tokens that Passport refuses, with the claims that `change` returns. */
    function changeTokens(change: (token: string) => Omit<TokenClaims, 'tokenHash'>): void {
      const prototype = TokenGuard.prototype as unknown as Handling;
      const handle = prototype.handleRequest;
      jest.spyOn(prototype, 'handleRequest').mockImplementation((error, claims, reasons, context) => {
        const token = bearerToken(context.switchToHttp().getRequest<Request>());
        if (claims || token === null) return handle(error, claims, reasons, context);
        return { ...change(token), tokenHash: tokenHash(token) };
      });
    }

    function claimsOf(payload: unknown): Omit<TokenClaims, 'tokenHash'> {
      const { sub, sid } = payload as { sub: string; sid: string };
      return { userId: Number(sub), sessionId: sid };
    }

    const checks: [string, () => void][] = [
      ['the role in the tenant', () => enforce((access) => (access.kind === 'tenant' ? Allow.tenant() : access))],
      ['the tenant', () => enforce((access) => (access.kind === 'tenant' ? Allow.signedIn : access))],
      [
        'the permission on the workspace',
        () => {
          const authorizer = matrix.app.get<WorkspaceAuthorizer>(WORKSPACE_AUTHORIZER, { strict: false });
          const authorize = authorizer.authorize.bind(authorizer);
          jest
            .spyOn(authorizer, 'authorize')
            .mockImplementation((principal, selector, needed) =>
              authorize({ ...principal, roles: new Set(['ADMIN']) }, selector, needed),
            );
        },
      ],
      ['the signature of the token', () => changeTokens((token) => claimsOf(decode(token)))],
      [
        'the expiry of the token',
        () => {
          const [signing] = matrix.app.get(Config, { strict: false }).auth.signingKeys;
          changeTokens((token) =>
            claimsOf(verify(token, signing!.key, { algorithms: ['HS256'], ignoreExpiration: true })),
          );
        },
      ],
      ['the end of the session', () => changeSession(() => ({ expired: false }))],
      ['the revocation of the session', () => changeSession(() => ({ revoked: false }))],
      ['the disabled account', () => changeSession(() => ({ user_disabled: false }))],
      ['the closed tenant', () => changeSession(() => ({ tenant_closed: false }))],
      [
        'whose session the token names',
        () => {
          interface Reading {
            read(claims: TokenClaims): Promise<Principal>;
          }
          const sessions = matrix.app.get(SessionsRepository, { strict: false });
          const authenticator = matrix.app.get<SessionAuthenticator, Reading>(SessionAuthenticator, {
            strict: false,
          });
          const read = authenticator.read.bind(authenticator);
          jest.spyOn(authenticator, 'read').mockImplementation(async (claims) => {
            return read({ ...claims, userId: (await sessions.find(claims.sessionId))?.user_id ?? claims.userId });
          });
        },
      ],
      [
        'whether any role in the selected tenant is left',
        () => {
          const sessions = matrix.app.get(SessionsRepository, { strict: false });
          const authenticator = matrix.app.get(SessionAuthenticator, { strict: false });
          const authenticate = authenticator.authenticate.bind(authenticator);
          jest.spyOn(authenticator, 'authenticate').mockImplementation(async (request) => {
            const principal = await authenticate(request);
            const tenantId = (await sessions.find(principal.sessionId))?.tenant_id ?? null;
            // The guard also looks for a role in the tenant, whatever other roles are held.
            const roles = new Set<Role>(tenantId === null ? principal.roles : [...principal.roles, 'USER']);
            return { ...principal, tenantId, roles };
          });
        },
      ],
    ];

    /** An operation of each kind of declared access, and one that needs a tenant but uses none of its records. */
    function oneOfEachKind(): string[] {
      const declarations = new Declarations(matrix.app);
      const byKind = new Map(matrix.operations.map(({ id }) => [JSON.stringify(declarations.accessOf(id)), id]));
      return ['calculateDriverMemory', ...byKind.values()];
    }

    it.each(checks)('%s', async (_what, takeAway) => {
      takeAway();
      const noticed: Failure[] = [];
      await concurrently(oneOfEachKind(), 4, async (id) => {
        if (noticed.length > 0) return;
        const failure = await firstFailure(matrix, [id]);
        if (failure) noticed.push(failure);
      });
      expect(noticed).not.toEqual([]);
    });
  });
});
