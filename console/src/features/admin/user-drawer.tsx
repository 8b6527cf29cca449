import { Button, Menu } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { NotFound } from 'managed-spark/core';
import type { UserRead } from 'managed-spark/types';
import { type ReactNode, useMemo } from 'react';
import { adminTexts } from '../../shared/admin-texts';
import { Confirm } from '../../shared/confirm';
import { Icon } from '../../shared/icons';
import { DetailDrawer } from '../../shared/detail-drawer';
import { ProblemPanel } from '../../shared/problem-panel';
import { dateOf } from '../../shared/time';
import list from '../../shared/list-screen.module.css';
import styles from './admin.module.css';
import { EnabledBadge } from './enabled-badge';
import { peopleChanges, TENANT_ROLES, userGroupsQuery, userQuery, userRolesQuery } from './people-api';

const texts = adminTexts.users;

/** An account with its roles and groups, and what an administrator does with it. */
export function UserDrawer({ userId, onClose }: { userId: number; onClose: () => void }): ReactNode {
  const { data: user, error, refetch } = useQuery(userQuery(userId));
  return (
    <DetailDrawer title={user?.username ?? `#${userId}`} error={error} onRetry={refetch} onClose={onClose}>
      {user && <Account user={user} />}
    </DetailDrawer>
  );
}

function Account({ user }: { user: UserRead }): ReactNode {
  const queries = useQueryClient();
  const changes = useMemo(() => peopleChanges(queries), [queries]);
  const { user_id: id, username } = user;
  const isEnabled = dateOf(user.to_date) === null;
  const enable = useMutation({ mutationFn: () => changes.enable(id) });
  return (
    <div className={styles['stack']}>
      <dl className={styles['facts']}>
        <dt>{texts.columns.state}</dt>
        <dd>
          <EnabledBadge isEnabled={isEnabled} />
        </dd>
        {user.display_name !== null && (
          <>
            <dt>{texts.columns.display}</dt>
            <dd>{user.display_name}</dd>
          </>
        )}
        <dt>{texts.columns.email}</dt>
        <dd>{user.email}</dd>
      </dl>
      <Roles userId={id} username={username} />
      <Groups userId={id} />
      <div className={list['filters']}>
        <Button
          variant="default"
          renderRoot={(props: object) => <Link to="/access" search={{ holder: id }} {...props} />}
        >
          {texts.showRights}
        </Button>
        <Button
          variant="default"
          renderRoot={(props: object) => <Link to="/admin/audit" search={{ user: username }} {...props} />}
        >
          {texts.whatTheyDid}
        </Button>
        {isEnabled ? (
          <Confirm
            action={texts.disable}
            question={texts.disableTitle(username)}
            consequence={texts.disableHint}
            run={() => changes.disable(id)}
          />
        ) : (
          <Button loading={enable.isPending} onClick={() => enable.mutate()}>
            {texts.enable}
          </Button>
        )}
      </div>
      {enable.isError && <ProblemPanel error={enable.error} />}
    </div>
  );
}

function Roles({ userId, username }: { userId: number; username: string }): ReactNode {
  const queries = useQueryClient();
  const changes = useMemo(() => peopleChanges(queries), [queries]);
  const { data: roles, error } = useQuery(userRolesQuery(userId));
  const give = useMutation({ mutationFn: (role: (typeof TENANT_ROLES)[number]) => changes.giveRole(userId, role) });
  const direct = roles?.user_roles ?? [];
  const through = roles?.group_roles ?? [];
  const missing = TENANT_ROLES.filter((role) => !direct.includes(role));
  return (
    <section className={styles['block']}>
      <h3>{texts.roles}</h3>
      {error && !(error instanceof NotFound) && <ProblemPanel error={error} />}
      {direct.length + through.length === 0 && <span className={styles['note']}>{texts.noRole}</span>}
      <ul className={styles['rows']}>
        {direct.map((role) => (
          <li key={role}>
            <span title={texts.roleMeaning[role]}>{role}</span>
            <Confirm
              action={texts.takeRole}
              label={`${texts.takeRole} ${role}`}
              question={texts.takeRoleTitle(role, username)}
              consequence={texts.takeRoleHint}
              run={() => changes.takeRole(userId, role)}
            />
          </li>
        ))}
        {through.map((role) => (
          <li key={`group ${role}`}>
            <span title={texts.roleMeaning[role]}>{role}</span>
            <span className={list['soft']}>{texts.through}</span>
          </li>
        ))}
      </ul>
      {missing.length > 0 && (
        <Menu position="bottom-start">
          <Menu.Target>
            <Button variant="default" loading={give.isPending} rightSection={<Icon name="chevronDown" size={14} />}>
              {texts.giveRole}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {missing.map((role) => (
              <Menu.Item key={role} onClick={() => give.mutate(role)}>
                {role}
                <div className={styles['note']}>{texts.roleMeaning[role]}</div>
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {give.isError && <ProblemPanel error={give.error} />}
    </section>
  );
}

function Groups({ userId }: { userId: number }): ReactNode {
  const { data: groups } = useQuery(userGroupsQuery(userId));
  return (
    <section className={styles['block']}>
      <h3>{texts.groups}</h3>
      {groups?.data.length === 0 && <span className={styles['note']}>{texts.noGroup}</span>}
      <ul className={styles['rows']}>
        {groups?.data.map(({ group_id: id, group_name: name }) => (
          <li key={id}>
            <Link to="/admin/groups" search={{ open: id, all: 'true' }}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
