import { hash } from '@node-rs/argon2';
import type { ApiClient } from './api-client';
import type { Platform } from './platform';

/** Ids of the roles after the first start. */
export const ROLE_ID = { 'PLATFORM ADMIN': 0, ADMIN: 1, 'CAN MANAGE CLUSTER': 2, USER: 3 } as const;

export const PASSWORD = 'correct horse battery staple';

/** Creates a tenant in the database, which needs no PLATFORM ADMIN; returns its id. */
export async function createTenant(platform: Pick<Platform, 'sql'>, name: string): Promise<string> {
  const [tenant] = await platform.sql<{ tenant_id: string }>(
    'INSERT INTO tenants (name) VALUES ($1) RETURNING tenant_id',
    [name],
  );
  if (!tenant) throw new Error('no tenant');
  return tenant.tenant_id;
}

/** Creates a user with {@link PASSWORD} and the role in each of the tenants; returns the user's id. */
export async function createUser(
  platform: Pick<Platform, 'sql'>,
  username: string,
  role: keyof typeof ROLE_ID,
  tenantIds: readonly string[],
): Promise<number> {
  const [user] = await platform.sql<{ user_id: string }>(
    'INSERT INTO users (username, email, password_hash) VALUES ($1, $2, $3) RETURNING user_id',
    [username, `${username}@example.com`, await hash(PASSWORD)],
  );
  if (!user) throw new Error('no user');
  for (const tenantId of tenantIds) {
    await platform.sql('INSERT INTO user_roles (user_id, role_id, tenant_id) VALUES ($1, $2, $3)', [
      user.user_id,
      ROLE_ID[role],
      tenantId,
    ]);
  }
  return Number(user.user_id);
}

/** Returns a client of a user created by {@link createUser}. */
export async function clientOf(platform: Pick<Platform, 'anonymous'>, username: string): Promise<ApiClient> {
  const client = platform.anonymous();
  await client.login(username, PASSWORD);
  return client;
}
