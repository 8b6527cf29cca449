import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { BrowserLogin } from '../../../../../libs/directories/oidc-provider';
import { insertRow, returning, type Tx, updateRows } from '../../../../platform/kernel/persistence/sql';
import type { Retention } from '../../../../platform/background/workflows/retention';
import { SsoLogin } from '../entities/sso-login.entity';

/** How long a browser has to come back, minutes. */
const KEPT_MINUTES = 10;

/** Longer than all requests to the provider that end a login. */
const CLAIMED_SECONDS = 300;

export interface PendingSsoLogin {
  login: BrowserLogin;
  /** Duration of the session as asked for. */
  timeout: string;
}

/** Logins that began in a browser and never came back. */
export const EXPIRED_SSO_LOGINS: Retention = {
  name: 'sso-logins',
  keptDays: 0,
  rows: [
    {
      table: 'sso_logins',
      key: 'state_hash',
      ended: `SELECT state_hash FROM sso_logins WHERE expires_at < platform_now() - $1 * interval '1 day' ORDER BY expires_at`,
    },
  ],
};

/** Logins that have begun in a browser. Each ends once. */
@Injectable()
export class SsoLoginsRepository {
  async add(tx: Tx, { login, timeout }: PendingSsoLogin): Promise<void> {
    await insertRow(tx, SsoLogin, {
      state_hash: hashOf(login.state),
      nonce: login.nonce,
      code_verifier: login.codeVerifier,
      timeout,
      expires_at: () => `platform_now() + interval '${KEPT_MINUTES} minutes'`,
    });
  }

  /**
   * Gives the login to the caller alone for a while. Null for a state that was never given out, has expired, has been
   * used or is another request's.
   */
  async claim(tx: Tx, state: string): Promise<PendingSsoLogin | null> {
    const [row] = await returning<Pick<SsoLogin, 'nonce' | 'code_verifier' | 'timeout'>>(
      tx,
      `UPDATE sso_logins SET claimed_until = platform_now() + interval '${CLAIMED_SECONDS} seconds'
       WHERE state_hash = $1 AND expires_at > platform_now() AND (claimed_until IS NULL OR claimed_until < platform_now())
       RETURNING nonce, code_verifier, timeout`,
      [hashOf(state)],
    );
    return row ? { login: { state, nonce: row.nonce, codeVerifier: row.code_verifier }, timeout: row.timeout } : null;
  }

  /** Lets another request try. */
  async release(tx: Tx, state: string): Promise<void> {
    await updateRows(tx, SsoLogin, { claimed_until: null }, { state_hash: hashOf(state) });
  }

  /** Ends the login; answers false when it is over already. */
  async take(tx: Tx, state: string): Promise<boolean> {
    const { affected } = await tx.delete(SsoLogin, { state_hash: hashOf(state) });
    return affected !== 0;
  }
}

function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('hex');
}
