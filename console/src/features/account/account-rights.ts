import type { Role, UserRoles, WorkspaceRead, WorkspaceUserPermissionRead } from 'managed-spark/types';
import { accessTexts } from '../../shared/access-texts';
import { accountTexts as texts } from '../../shared/account-texts';
import { adminTexts } from '../../shared/admin-texts';

const { origin } = accessTexts;

/** Returns a line for each role: where it comes from, and what it is for. */
export function roleLines({ user_roles: direct, group_roles: through }: UserRoles): string[] {
  const line = (how: string) => (role: Role) => texts.role(role, adminTexts.users.roleMeaning[role], how);
  return [...direct.map(line(texts.directly)), ...through.map(line(texts.throughGroup))];
}

/** Returns where the permissions of a user on a workspace come from, the one that counts first. */
export function originsOf(own: WorkspaceUserPermissionRead, { created_by: creator }: WorkspaceRead): string[] {
  const { user_permission: direct, group_permission: groups, effective_permission: effective } = own;
  const isOwner = creator?.user_id === own.user_id;
  const found = [
    ...(direct ? [{ name: direct.permission.name, text: directText(isOwner, direct.created_by?.username) }] : []),
    ...(groups ?? []).map(({ permission: { name }, group_name: group }) => ({ name, text: origin.group(group) })),
  ];
  return found
    .toSorted((a, b) => Number(b.name === effective.name) - Number(a.name === effective.name))
    .map(({ name, text }) => (name === effective.name ? text : `${text} (${name})`));
}

function directText(isOwner: boolean, by: string | undefined): string {
  if (isOwner) return texts.origin.created;
  return by === undefined ? origin.direct : `${origin.direct}, ${origin.grantedBy(by)}`;
}
