import { ForeignKey, Check, Entity, Index, Unique } from 'typeorm';
import { AuditColumns, Col, PartOfNameIndex } from '../../../../platform/kernel/persistence/columns';
import { AreAuthors, RecordKind } from '../../../../platform/http/resources/record-kind';
import { Tenant } from './tenant.entity';

/** A person or service account. Setting `to_date` disables it; its user name stays reserved. */
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
  /** Stored in lower case, so that user names are case-insensitive. */
  @Col.text() username: string;
  @Col.text({ nullable: true }) display_name: string | null;
  @Col.text() email: string;
  /** An argon2id hash; null if an external directory checks the password. */
  @Col.text({ nullable: true }) password_hash: string | null;
  /** `local`, or the external directory that the account comes from. */
  @Col.text({ default: 'local' }) directory: string;
  /** The account's id in that directory, which survives renames; null if the directory identifies it by user name. */
  @Col.text({ nullable: true }) external_id: string | null;
  /** The tenant whose ADMINs may change the account; null if the platform owns it. */
  @ForeignKey(() => Tenant, { name: 'fk_users_owner' })
  @Col.uuid({ nullable: true })
  owner_tenant_id: string | null;
  /** True if an ADMIN of a tenant set the password last, and so may know it or hold a session. */
  @Col.bool({ default: false }) password_known_to_tenant: boolean;
}
