import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import type { ApiError } from 'managed-spark/core';
import type { UserRoles, WorkspaceUserPermissionRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { commonTexts } from './common-texts';
import { CopyButton } from './copy-button';
import { sessionQuery } from './records';
import { allRoles, managersQuery, ownPermissionQuery, ownRolesQuery } from './rights/rights-api';
import { idParam } from './search-params';
import { someNames } from './some-names';
import styles from './refusal.module.css';

const texts = commonTexts.refusal;

const MAX_NAMES = 5;

/** Says what a refused request needs, what the user holds and through what, and who can grant it. */
export function Refusal({ error }: { error: ApiError }): ReactNode {
  const { needed, held, roles } = error.details;
  if (typeof needed === 'string')
    return <WorkspaceRefusal error={error} needed={needed} held={typeof held === 'string' ? held : null} />;
  if (Array.isArray(roles)) return <RoleRefusal error={error} roles={roles.map(String)} />;
  return null;
}

interface WorkspaceRefusalProps {
  error: ApiError;
  needed: string;
  held: string | null;
}

function WorkspaceRefusal({ error, needed, held }: WorkspaceRefusalProps): ReactNode {
  const workspaceId = useShownWorkspace();
  const enabled = held !== null && workspaceId !== undefined;
  const { data: own } = useQuery({ ...ownPermissionQuery(workspaceId ?? 0), enabled });
  const { data: managers = [] } = useQuery({ ...managersQuery(workspaceId ?? 0), enabled });
  const wanted = texts.permission(needed, own?.workspace.name ?? texts.thisWorkspace);
  return (
    <Facts error={error} wanted={wanted} grants={managers.length > 0 ? <Names names={managers} /> : texts.managers}>
      {held === null ? texts.nothing : `${held} ${own ? originOf(own) : ''}`}
    </Facts>
  );
}

function RoleRefusal({ error, roles }: { error: ApiError; roles: readonly string[] }): ReactNode {
  const { data: own } = useQuery(ownRolesQuery);
  const isForTenant = roles.some((role) => !role.startsWith('PLATFORM'));
  return (
    <Facts error={error} wanted={texts.oneOf(roles)} grants={isForTenant ? texts.admins : texts.platform}>
      {own ? rolesText(own) : '…'}
    </Facts>
  );
}

interface FactsProps {
  error: ApiError;
  wanted: string;
  grants: ReactNode;
  /** The rights that the user holds. */
  children: ReactNode;
}

function Facts({ error, wanted, grants, children }: FactsProps): ReactNode {
  const { data: user } = useQuery(sessionQuery);
  const request = texts.request(user?.username ?? '', wanted, error.correlationId);
  return (
    <section className={styles['refusal']} aria-label={texts.title}>
      <h3 className={styles['title']}>{texts.title}</h3>
      <dl className={styles['facts']}>
        <dt>{texts.needs}</dt>
        <dd>{wanted}</dd>
        <dt>{texts.holds}</dt>
        <dd>{children}</dd>
        <dt>{texts.grants}</dt>
        <dd>
          {grants} <CopyButton text={request} label={texts.ask} />
        </dd>
      </dl>
    </section>
  );
}

function Names({ names }: { names: readonly string[] }): ReactNode {
  return someNames(names, MAX_NAMES);
}

/** The workspace that the address names. */
function useShownWorkspace(): number | undefined {
  const params: Record<string, unknown> = useParams({ strict: false });
  const search: Record<string, unknown> = useSearch({ strict: false });
  return idParam(params['workspaceId'] ?? search['workspace']);
}

function originOf({ effective_permission, user_permission, group_permission }: WorkspaceUserPermissionRead): string {
  const isEffective = (name: string) => name === effective_permission.name;
  if (user_permission && isEffective(user_permission.permission.name)) return texts.direct;
  const groups = (group_permission ?? []).filter(({ permission }) => isEffective(permission.name));
  return groups.length === 0 ? '' : texts.through(groups.map(({ group_name: name }) => name));
}

function rolesText(own: UserRoles): string {
  const roles = allRoles(own);
  return roles.length === 0 ? texts.noRole : roles.join(', ');
}
