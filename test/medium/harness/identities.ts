import { hashPassword } from '../../../src/modules/iam/passwords';
import type { Role } from '../../../src/platform/auth/roles';
import { firstRow, insertRow } from '../../../src/platform/persistence/sql';
import type { TestApi } from './test-api';

export const PASSWORD = 'a password of some length';

/** Inserts a tenant and answers its id. */
export async function makeTenant(api: TestApi, name: string): Promise<string> {
  const { tenant_id } = await insertRow<{ tenant_id: string }>(api.database.manager, 'tenants', { name });
  return tenant_id;
}

/** Inserts a user with {@link PASSWORD} who holds the role in each of the tenants, and answers the user's id. */
export async function makeUser(
  api: TestApi,
  username: string,
  tenantIds: string[] = [],
  role: Role = 'USER',
): Promise<number> {
  const { user_id } = await insertRow<{ user_id: number }>(api.database.manager, 'users', {
    username,
    email: `${username}@example.org`,
    password_hash: await hashPassword(PASSWORD),
  });
  for (const tenantId of tenantIds) await giveRole(api, user_id, role, tenantId);
  return user_id;
}

/** Gives a role as a row of its own; nobody is woken. */
export async function giveRole(api: TestApi, userId: number, role: Role, tenantId: string | null): Promise<void> {
  const manager = api.database.manager;
  const row = await firstRow<{ role_id: number }>(manager, 'SELECT role_id FROM roles WHERE role = $1', [role]);
  await insertRow(manager, 'user_roles', { user_id: userId, role_id: row?.role_id, tenant_id: tenantId });
}
