import { type Role, ROLES } from '../../../../platform/kernel/auth/roles';

const DESCRIPTION: Record<Role, string> = {
  'PLATFORM ADMIN': 'Administers the platform and every tenant',
  ADMIN: 'Administers a tenant, its users and its resources',
  'CAN MANAGE CLUSTER': 'Creates, starts, stops and destroys clusters of a tenant',
  USER: 'Works in the workspaces of a tenant that are shared with the user',
  'PLATFORM BILLING': 'Reads the usage and costs of every tenant',
};

export function roleId(role: Role): number {
  return ROLES.indexOf(role);
}

/** The rows of the table `roles`, written at every start. */
export const ROLE_RECORDS = ROLES.map((role) => ({ role_id: roleId(role), role, description: DESCRIPTION[role] }));
