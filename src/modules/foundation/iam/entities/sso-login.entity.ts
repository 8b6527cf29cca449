import { Entity, Index, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';

/** A login at the provider's page that has begun and not come back; whichever API pod it comes back to can end it. */
@Entity('sso_logins')
@Index('ix_sso_logins_expires_at', ['expires_at'])
export class SsoLogin {
  /** SHA-256 of the state that the browser carries, hexadecimal. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_sso_logins' }) state_hash: string;
  @Col.text() nonce: string;
  /** Of PKCE (RFC 7636). */
  @Col.text() code_verifier: string;
  /** Duration of the session as asked for. */
  @Col.text() timeout: string;
  @Col.time() expires_at: Date;
  /** Until then one request alone asks the provider: a code that is sent twice counts as stolen there. */
  @Col.time({ nullable: true }) claimed_until: Date | null;
}
