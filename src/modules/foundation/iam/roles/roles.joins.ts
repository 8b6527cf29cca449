/**
 * SQL of current roles of users, direct and through groups. `ofUser` returns a condition on the given user id column.
 */
function userAssignments(ofUser: (userColumn: string) => string): string {
  return `
    SELECT ur.user_id, r.role_id, r.role, ur.tenant_id, false AS through_group,
      ur.granted_by_tenant_id AS given_by, NULL::uuid AS put_in_by, ur.from_date AS since
    FROM user_roles ur
    JOIN roles r ON r.role_id = ur.role_id
    WHERE ${ofUser('ur.user_id')} AND ur.to_date = 'infinity'
    UNION ALL
    SELECT gu.user_id, r.role_id, r.role, gr.tenant_id, true,
      CASE WHEN gr.from_date > gu.from_date THEN gr.granted_by_tenant_id END, gu.granted_by_tenant_id,
      GREATEST(gr.from_date, gu.from_date)
    FROM group_users gu
    JOIN groups g ON g.group_id = gu.group_id AND g.to_date = 'infinity'
    JOIN group_roles gr ON gr.group_id = g.group_id AND gr.to_date = 'infinity'
    JOIN roles r ON r.role_id = gr.role_id
    WHERE ${ofUser('gu.user_id')} AND gu.to_date = 'infinity'`;
}

/**
 * Returns SQL that selects the current roles of a user, direct and through groups: `user_id`, `role_id`, `role`,
 * `tenant_id` (null if platform-wide), `through_group` and `since`. `given_by` is the tenant that granted the role, and
 * `put_in_by` the tenant that added the user to the group; null means the platform. Adding a user to a group grants the
 * roles the group has at that time.
 * @param user SQL expression of the user's id
 */
export function heldRoles(user: string): string {
  return userAssignments((column) => `${column} = ${user}`);
}

/** Like {@link heldRoles}, for every user. */
export const ROLES_OF_USERS = userAssignments(() => 'TRUE');

/** SQL that selects the current roles of every group, with the first columns of {@link ROLES_OF_USERS}. */
export const ROLES_OF_GROUPS = `
    SELECT gr.group_id, r.role_id, r.role, gr.tenant_id, false AS through_group
    FROM group_roles gr
    JOIN roles r ON r.role_id = gr.role_id
    WHERE gr.to_date = 'infinity'`;
