import { Check, Entity, Index, JoinColumn, ManyToOne, Unique } from 'typeorm';
import { AuditColumns, Col, PartOfNameIndex } from '../../../platform/persistence/columns';
import { Tenant } from './tenant.entity';

/** A person or service that may sign in. An ended validity disables the account; its name stays taken. */
@Entity('users')
@Unique('uq_users_username', ['username'])
@Unique('uq_users_email', ['email'])
@Index('uq_users_external_id', ['directory', 'externalId'], { unique: true, where: 'external_id IS NOT NULL' })
@PartOfNameIndex('ix_users_name_part', 'username')
@Index('ix_users_owner', ['ownerTenantId'], { where: 'owner_tenant_id IS NOT NULL' })
@Check('ck_users_owner_knows', 'owner_tenant_id IS NULL OR password_known_to_tenant')
@Check('ck_users_lower_case', 'username = lower(username) AND email = lower(email)')
export class User extends AuditColumns {
  @Col.identity('user_id', 'pk_users') userId: string;
  /** Lower case, so that names that differ only in letter case are one. */
  @Col.text('username') username: string;
  @Col.text('display_name', { nullable: true }) displayName: string | null;
  @Col.text('email') email: string;
  /** argon2id; null for accounts whose password another directory checks. */
  @Col.text('password_hash', { nullable: true }) passwordHash: string | null;
  /** Where the account comes from. */
  @Col.text('directory', { default: 'local' }) directory: string;
  /** Id in that directory, which a change of names does not change; null where the user name is the identity. */
  @Col.text('external_id', { nullable: true }) externalId: string | null;
  /** The tenant whose ADMINs may change the account; null for one of the platform. */
  @Col.uuid('owner_tenant_id', { nullable: true }) ownerTenantId: string | null;
  @ManyToOne(() => Tenant, { nullable: true })
  @JoinColumn({ name: 'owner_tenant_id', foreignKeyConstraintName: 'fk_users_owner' })
  ownerTenant: Tenant | null;
  /** Whether an ADMIN of a tenant may know the password or hold a session: one has set it, and no PLATFORM ADMIN since. */
  @Col.bool('password_known_to_tenant', { default: false }) passwordKnownToTenant: boolean;
}
