import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { BrowserLogin } from '../../../../../libs/directories/oidc-provider';
import { insertRow, returning, type Tx, updateRows } from '../../../../platform/kernel/persistence/sql';
import type { Retention } from '../../../../platform/background/workflows/retention';
import { SsoLogin } from '../entities/sso-login.entity';

/** A pending login expires after this time. */
const LOGIN_TIMEOUT_MINUTES = 10;

/** Must exceed the requests to the provider that complete a login. */
const CLAIM_TIMEOUT_SECONDS = 300;

export interface PendingSsoLogin {
  login: BrowserLogin;
  timeout: string;
}

export const EXPIRED_SSO_LOGINS: Retention = {
  name: 'sso-logins',
  retentionDays: 0,
  rows: [
    {
      table: 'sso_logins',
      key: 'state_hash',
      ended: `SELECT state_hash FROM sso_logins WHERE expires_at < platform_now() - $1 * interval '1 day' ORDER BY expires_at`,
    },
  ],
};

/** Stores pending SSO logins. Each can be completed once. */
@Injectable()
export class SsoLoginsRepository {
  async add(tx: Tx, { login, timeout }: PendingSsoLogin): Promise<void> {
    await insertRow(tx, SsoLogin, {
      state_hash: hashOf(login.state),
      nonce: login.nonce,
      code_verifier: login.codeVerifier,
      timeout,
      expires_at: () => `platform_now() + interval '${LOGIN_TIMEOUT_MINUTES} minutes'`,
    });
  }

  /**
   * Reserves the login for the caller for {@link CLAIM_TIMEOUT_SECONDS}. Returns null if the state is unknown, has
   * expired, was used, or is claimed by another request.
   */
  async claim(tx: Tx, state: string): Promise<PendingSsoLogin | null> {
    const [row] = await returning<Pick<SsoLogin, 'nonce' | 'code_verifier' | 'timeout'>>(
      tx,
      `UPDATE sso_logins SET claimed_until = platform_now() + interval '${CLAIM_TIMEOUT_SECONDS} seconds'
       WHERE state_hash = $1 AND expires_at > platform_now() AND (claimed_until IS NULL OR claimed_until < platform_now())
       RETURNING nonce, code_verifier, timeout`,
      [hashOf(state)],
    );
    return row ? { login: { state, nonce: row.nonce, codeVerifier: row.code_verifier }, timeout: row.timeout } : null;
  }

  /** Gives up the claim, so that another request can retry. */
  async release(tx: Tx, state: string): Promise<void> {
    await updateRows(tx, SsoLogin, { claimed_until: null }, { state_hash: hashOf(state) });
  }

  /** Deletes the login. Returns false if it was already deleted. */
  async delete(tx: Tx, state: string): Promise<boolean> {
    const { affected } = await tx.delete(SsoLogin, { state_hash: hashOf(state) });
    return affected !== 0;
  }
}

function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('hex');
}
