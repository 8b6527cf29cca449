import { ForeignKey, Check, Entity, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Col, type Moment } from '../../../../platform/kernel/persistence/columns';
import { Tenant } from './tenant.entity';
import { User } from './user.entity';

/** A login or personal token. The token is valid while its session is neither expired nor revoked. */
@Entity('sessions')
@Unique('uq_sessions_token', ['token_id'])
@Index('ix_sessions_user', ['user_id'])
@Index('ix_sessions_personal_tokens', ['user_id', 'token_id'], { where: `kind = 'token'` })
@Index('ix_sessions_valid_tokens', ['user_id', 'expires_at'], { where: `kind = 'token' AND revoked_at IS NULL` })
@Index('ix_sessions_expires', ['expires_at'])
@Index('ix_sessions_revoked', ['revoked_at'], { where: `revoked_at IS NOT NULL` })
@Index('ix_sessions_login_network', ['user_id', 'network', 'created_at'], { where: `kind = 'login'` })
@Check('ck_sessions_kind', `kind IN ('login', 'token')`)
export class Session {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_sessions' }) session_id: string;
  /** The id by which users refer to a personal token. Logins have one too, but it is never shown. */
  @Col.bigint({ generated: 'identity', generatedIdentity: 'BY DEFAULT' }) token_id: number;
  /** SHA-256 of the only token accepted for the session, hex. Null for sessions older than this column. */
  @Col.text({ nullable: true }) token_hash: string | null;
  @ForeignKey(() => User, { name: 'fk_sessions_user' })
  @Col.bigint()
  user_id: number;
  /** The selected tenant. A personal token stays bound to the tenant it was created in. */
  @ForeignKey(() => Tenant, { name: 'fk_sessions_tenant' })
  @Col.uuid({ nullable: true })
  tenant_id: string | null;
  /** `login`, or `token` for a personal token. */
  @Col.text({ default: 'login' }) kind: string;
  @Col.text({ nullable: true }) description: string | null;
  /** `Infinity` if the session never expires. */
  @Col.time() expires_at: Moment;
  @Col.time({ default: () => 'platform_now()' }) created_at: Date;
  /** Updated at most once per minute. */
  @Col.time({ nullable: true }) last_used_at: Date | null;
  @Col.time({ nullable: true }) revoked_at: Date | null;
  @Col.text({ nullable: true }) ip: string | null;
  /** The network that familiar logins are recognised by: the IPv4 address itself, or the /64 of an IPv6 address. */
  @Col.text({ nullable: true }) network: string | null;
  @Col.text({ nullable: true }) user_agent: string | null;
}
