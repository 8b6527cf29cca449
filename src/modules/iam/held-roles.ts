/**
 * SQL of the current roles of a user, direct ones and those through groups: `role`, `tenant_id` (null everywhere),
 * `through_group`.
 * @param user SQL expression of the user's id
 */
export function heldRoles(user: string): string {
  return `
    SELECT r.role, ur.tenant_id, false AS through_group
    FROM user_roles ur
    JOIN roles r ON r.role_id = ur.role_id
    WHERE ur.user_id = ${user} AND ur.to_date = 'infinity'
    UNION ALL
    SELECT r.role, gr.tenant_id, true
    FROM group_users gu
    JOIN groups g ON g.group_id = gu.group_id AND g.to_date = 'infinity'
    JOIN group_roles gr ON gr.group_id = g.group_id AND gr.to_date = 'infinity'
    JOIN roles r ON r.role_id = gr.role_id
    WHERE gu.user_id = ${user} AND gu.to_date = 'infinity'`;
}
