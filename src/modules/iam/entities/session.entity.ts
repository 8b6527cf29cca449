import { Check, Entity, Index, JoinColumn, ManyToOne, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Col } from '../../../platform/persistence/columns';
import { Tenant } from './tenant.entity';
import { User } from './user.entity';

/** What a token stands for: it holds while its session is neither expired nor revoked. */
@Entity('sessions')
@Unique('uq_sessions_token', ['tokenId'])
@Index('ix_sessions_user', ['userId'])
@Index('ix_sessions_personal_tokens', ['userId', 'tokenId'], { where: `kind = 'token'` })
@Index('ix_sessions_login_expires', ['expiresAt'], { where: `kind = 'login'` })
@Index('ix_sessions_login_revoked', ['revokedAt'], { where: `kind = 'login' AND revoked_at IS NOT NULL` })
@Index('ix_sessions_login_network', ['userId', 'network', 'createdAt'], { where: `kind = 'login'` })
@Check('ck_sessions_kind', `kind IN ('login', 'token')`)
export class Session {
  @PrimaryGeneratedColumn('uuid', { name: 'session_id', primaryKeyConstraintName: 'pk_sessions' }) sessionId: string;
  /** What the user calls a personal token by; logins have one, too, and nobody sees it. */
  @Col.bigint('token_id', { generated: 'identity', generatedIdentity: 'BY DEFAULT' }) tokenId: string;
  /** SHA-256 of the token's text, hex: no other token stands for the session. Null for those made before it was kept. */
  @Col.text('token_hash', { nullable: true }) tokenHash: string | null;
  @Col.bigint('user_id') userId: string;
  @ManyToOne(() => User)
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'fk_sessions_user' })
  user: User;
  /** The tenant selected; a personal token keeps the one it was made in. */
  @Col.uuid('tenant_id', { nullable: true }) tenantId: string | null;
  @ManyToOne(() => Tenant, { nullable: true })
  @JoinColumn({ name: 'tenant_id', foreignKeyConstraintName: 'fk_sessions_tenant' })
  tenant: Tenant | null;
  /** `login`, or `token` for a personal token. */
  @Col.text('kind', { default: 'login' }) kind: string;
  @Col.text('description', { nullable: true }) description: string | null;
  /** Infinity for one that never expires. */
  @Col.time('expires_at') expiresAt: Date;
  @Col.time('created_at', { default: () => 'now()' }) createdAt: Date;
  /** Kept to the minute. */
  @Col.time('last_used_at', { nullable: true }) lastUsedAt: Date | null;
  @Col.time('revoked_at', { nullable: true }) revokedAt: Date | null;
  @Col.text('ip', { nullable: true }) ip: string | null;
  /** What the address counts as by which an account is known to log in: itself, or the /64 of an IPv6 one. */
  @Col.text('network', { nullable: true }) network: string | null;
  @Col.text('user_agent', { nullable: true }) userAgent: string | null;
}
