import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { AuthConfig } from '../../../config/auth.config';
import type { Logger } from '../../../platform/kernel/logging/logger';
import { advisoryLock, insertRow, type Tx, inTransaction } from '../../../platform/kernel/persistence/sql';
import { ROLE_RECORDS, roleId } from './roles/role-records';
import { RolesRepository } from './roles/roles.repository';
import { hashPassword } from './users-and-groups/passwords';
import { Tenant } from './entities/tenant.entity';
import { User } from './entities/user.entity';
import { UserRole } from './entities/user-role.entity';

/** Key of the advisory lock. It must differ from all other advisory locks of the application. */
const BOOTSTRAP_LOCK = 7_203_102;

/**
 * Writes the roles. If there is no user yet, it also creates the first tenant and its administrator, who is PLATFORM
 * ADMIN as well. Without a configured password it generates one and prints it once to stdout.
 */
export async function bootstrapIdentity(dataSource: DataSource, auth: AuthConfig, logger: Logger): Promise<void> {
  const password = auth.bootstrapPassword ?? randomBytes(24).toString('base64url');
  const username = auth.bootstrapUsername.toLowerCase();
  const created = await inTransaction(dataSource, async (tx) => {
    await advisoryLock(tx, BOOTSTRAP_LOCK);
    await new RolesRepository(dataSource).write(tx, ROLE_RECORDS);
    if (await tx.exists(User)) return false;
    await createAdministrator(tx, { tenant: auth.bootstrapTenant, username, password });
    return true;
  });
  if (!created) return;
  logger.info({ tenant: auth.bootstrapTenant, username }, 'Created the first tenant and its administrator');
  if (auth.bootstrapPassword === null) {
    process.stdout.write(`\nPassword of the administrator "${username}", shown only now: ${password}\n\n`);
  }
}

async function createAdministrator(
  tx: Tx,
  { tenant, username, password }: { tenant: string; username: string; password: string },
): Promise<void> {
  const { tenant_id } = await insertRow(tx, Tenant, { name: tenant });
  const { user_id } = await insertRow(tx, User, {
    username,
    email: username.includes('@') ? username : `${username}@localhost`,
    password_hash: await hashPassword(password, 'bootstrap'),
  });
  await insertRow(tx, UserRole, { user_id, role_id: roleId('PLATFORM ADMIN'), tenant_id: null });
  await insertRow(tx, UserRole, { user_id, role_id: roleId('ADMIN'), tenant_id });
}
