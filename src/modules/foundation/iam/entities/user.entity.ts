import { ForeignKey, Check, Entity, Index, Unique } from 'typeorm';
import { AuditColumns, Col, PartOfNameIndex } from '../../../../platform/kernel/persistence/columns';
import { AreAuthors, RecordKind } from '../../../../platform/http/resources/record-kind';
import { Tenant } from './tenant.entity';

/** A person or service that may sign in. An ended validity disables the account; its name stays taken. */
@Entity('users')
@Unique('uq_users_username', ['username'])
@Unique('uq_users_email', ['email'])
@Index('uq_users_external_id', ['directory', 'external_id'], { unique: true, where: 'external_id IS NOT NULL' })
@PartOfNameIndex('ix_users_name_part', 'username')
@Index('ix_users_owner', ['owner_tenant_id'], { where: 'owner_tenant_id IS NOT NULL' })
@Check('ck_users_owner_knows', 'owner_tenant_id IS NULL OR password_known_to_tenant')
@Check('ck_users_lower_case', 'username = lower(username) AND email = lower(email)')
@RecordKind({ code: 'USER', label: 'user' })
@AreAuthors<User>('username')
export class User extends AuditColumns {
  @Col.identity('pk_users') user_id: number;
  /** Lower case, so that names that differ only in letter case are one. */
  @Col.text() username: string;
  @Col.text({ nullable: true }) display_name: string | null;
  @Col.text() email: string;
  /** argon2id; null for accounts whose password another directory checks. */
  @Col.text({ nullable: true }) password_hash: string | null;
  /** Where the account comes from. */
  @Col.text({ default: 'local' }) directory: string;
  /** Id in that directory, which a change of names does not change; null where the user name is the identity. */
  @Col.text({ nullable: true }) external_id: string | null;
  /** The tenant whose ADMINs may change the account; null for one of the platform. */
  @ForeignKey(() => Tenant, { name: 'fk_users_owner' })
  @Col.uuid({ nullable: true })
  owner_tenant_id: string | null;
  /** Whether an ADMIN of a tenant may know the password or hold a session: one has set it, and no PLATFORM ADMIN since. */
  @Col.bool({ default: false }) password_known_to_tenant: boolean;
}
