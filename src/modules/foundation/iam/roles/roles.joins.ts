/** Current assignments of roles to users, direct ones and those through groups, of the users that `ofUser` admits. */
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
 * SQL of the current roles of a user, direct ones and those through groups: `role`, `tenant_id` (null everywhere),
 * `through_group`, besides `user_id` and `role_id`. Tenants that had a hand in it, null the platform, are `given_by` and,
 * through a group, `put_in_by`: whoever puts a user into a group gives what the group holds then. `since` is when.
 * @param user SQL expression of the user's id
 */
export function heldRoles(user: string): string {
  return userAssignments((column) => `${column} = ${user}`);
}

/** SQL of the same for every user. */
export const ROLES_OF_USERS = userAssignments(() => 'TRUE');

/** SQL of the current roles of every group, in the first columns of {@link ROLES_OF_USERS}. */
export const ROLES_OF_GROUPS = `
    SELECT gr.group_id, r.role_id, r.role, gr.tenant_id, false AS through_group
    FROM group_roles gr
    JOIN roles r ON r.role_id = gr.role_id
    WHERE gr.to_date = 'infinity'`;
