import { Entity, Index, PrimaryColumn } from 'typeorm';
import { Col } from '../../../../platform/kernel/persistence/columns';

/** A login that is pending at the provider's page. It is stored, so that any API pod can complete it. */
@Entity('sso_logins')
@Index('ix_sso_logins_expires_at', ['expires_at'])
export class SsoLogin {
  /** SHA-256 of the OAuth `state` parameter, hex. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_sso_logins' }) state_hash: string;
  @Col.text() nonce: string;
  /** The PKCE code verifier (RFC 7636). */
  @Col.text() code_verifier: string;
  /** The requested session duration, for example `48h`. */
  @Col.text() timeout: string;
  @Col.time() expires_at: Date;
  /** Until then only one request may redeem the code: the provider treats a code that is sent twice as stolen. */
  @Col.time({ nullable: true }) claimed_until: Date | null;
}
