import type { Request } from 'express';
import { decode, verify } from 'jsonwebtoken';
import { Config } from '../../../src/config/config';
import { AccessTokens, type TokenClaims, tokenHash } from '../../../src/modules/iam/sessions/access-tokens';
import { SessionAuthenticator } from '../../../src/modules/iam/sessions/session-authenticator';
import { type SessionRow, SessionsRepository } from '../../../src/modules/iam/sessions/sessions.repository';
import { type Access, Allow } from '../../../src/platform/auth/access';
import { AccessGuard } from '../../../src/platform/auth/access.guard';
import { WORKSPACE_AUTHORIZER, type WorkspaceAuthorizer } from '../../../src/platform/auth/authentication';
import type { Principal } from '../../../src/platform/auth/principal';
import type { AuthenticatedRequest } from '../../../src/platform/auth/request-principal';
import type { Role } from '../../../src/platform/auth/roles';
import { concernsBothTenants } from './callers';
import type { Cell } from './cells';
import { AccessMatrix, concurrently, type Failure } from './matrix';
import { Declarations, readSecondLines, wideningsOf } from './mutations';
import { SqlConditions, type TenantCondition } from './sql-conditions';

const MINUTES = 60_000;

/** Operations called without a condition: more of them would show nothing that these do not. */
const OPERATIONS_PER_CONDITION = 12;

/**
 * The matrix can fail: each check that keeps somebody out is taken away, one at a time, and a cell must notice.
 * Real: the whole API, PostgreSQL, Redis; taken away are declarations, conditions of SQL and steps of the guard.
 */
describe('the access matrix notices', () => {
  let sql: SqlConditions;
  let matrix: AccessMatrix;

  beforeAll(async () => {
    sql = new SqlConditions();
    matrix = await AccessMatrix.start();
    expect(await matrix.runAll()).toEqual([]);
  }, 10 * MINUTES);

  afterAll(async () => {
    await matrix?.stop();
    sql?.restore();
  });

  /** The first cell that fails, of the operations in turn; null when none does. */
  async function firstFailure(operationIds: Iterable<string>, only?: (cell: Cell) => boolean): Promise<Failure | null> {
    for (const operation of operationsNamed(operationIds)) {
      const [failure] = await matrix.run(operation, { fresh: true, stopAtFirst: true, only });
      if (failure) return failure;
    }
    return null;
  }

  function operationsNamed(ids: Iterable<string>) {
    const wanted = new Set(ids);
    return matrix.operations.filter(({ id }) => wanted.has(id));
  }

  it(
    'each declaration of access that is widened',
    async () => {
      const declarations = new Declarations(matrix.app);
      let count = 0;
      const unnoticed = await concurrently(matrix.operations, 4, async ({ id }) => {
        const survivors: string[] = [];
        for (const { name, access } of wideningsOf(declarations.accessOf(id))) {
          count += 1;
          const noticed = await declarations.declaring(id, access, () => firstFailure([id]));
          if (noticed === null) survivors.push(`${id}: ${name}`);
        }
        return survivors;
      });
      console.log(`Access mutations: ${count} declarations widened`);
      expect(unnoticed.flat()).toEqual([]);
    },
    10 * MINUTES,
  );

  it(
    'each condition on a tenant that is gone, but for second lines of defence',
    async () => {
      expect(sql.unknownComparisons()).toEqual([]);
      const conditions = sql.conditions();
      const secondLines = readSecondLines();
      const namesOf = ({ key, operations }: TenantCondition) => [key, `${key} (${[...operations].join(', ')})`];
      const isListed = (condition: TenantCondition) =>
        secondLines.some(({ pattern }) => namesOf(condition).some((name) => pattern.test(name)));
      const unnoticed: string[] = [];
      const needed: string[] = [];
      for (const condition of conditions) {
        const operations = [...condition.operations].slice(0, OPERATIONS_PER_CONDITION);
        const concerned = ({ caller }: Cell) => concernsBothTenants(caller);
        const failure = await sql.without(condition, () => firstFailure(operations, concerned));
        if (failure === null && !isListed(condition)) unnoticed.push(`${condition.key} (${operations.join(', ')})`);
        if (failure !== null && isListed(condition)) needed.push(`${condition.key}: ${failure.cell}`);
      }
      const matchesNone = secondLines.filter(
        ({ pattern }) => !conditions.flatMap(namesOf).some((name) => pattern.test(name)),
      );
      console.log(`Access mutations: ${conditions.length} conditions on tenants made void`);
      const gone = matchesNone.map(({ text }) => text);
      expect({ unnoticed, needed, gone }).toEqual({ unnoticed: [], needed: [], gone: [] });
      expect(sql.misunderstood).toEqual([]);
    },
    10 * MINUTES,
  );

  describe('a check of the guard that is gone:', () => {
    interface Admitting {
      admit(request: AuthenticatedRequest, access: Access): Promise<void>;
    }

    /** Has the guard enforce another access than the declared one. */
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

    function changeTokens(change: (token: string) => Omit<TokenClaims, 'tokenHash'>): void {
      const tokens = matrix.app.get(AccessTokens, { strict: false });
      const check = tokens.verify.bind(tokens);
      jest.spyOn(tokens, 'verify').mockImplementation((request: Request) =>
        check(request).catch((error: unknown) => {
          const [, token] = request.headers.authorization?.split(' ') ?? [];
          if (token === undefined) throw error;
          return { ...change(token), tokenHash: tokenHash(token) };
        }),
      );
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
            read(sessionId: string, userId: number): Promise<Principal>;
          }
          const sessions = matrix.app.get(SessionsRepository, { strict: false });
          const authenticator = matrix.app.get<SessionAuthenticator, Reading>(SessionAuthenticator, {
            strict: false,
          });
          const read = authenticator.read.bind(authenticator);
          jest.spyOn(authenticator, 'read').mockImplementation(async (sessionId, userId) => {
            return read(sessionId, (await sessions.find(sessionId))?.user_id ?? userId);
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
            // The guard looks for a role in the tenant, too, whatever else is held.
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
        const failure = await firstFailure([id]);
        if (failure) noticed.push(failure);
      });
      expect(noticed).not.toEqual([]);
    });
  });
});
