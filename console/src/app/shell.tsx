import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useCallback } from 'react';
import type { UserInfo } from 'managed-spark/types';
import { apiUrl } from '../api/client';
import { PaletteButton } from '../features/palette/palette-button';
import { chooseTenant, logOut, tenantsQuery } from '../features/session/session-api';
import { TenantScreen } from '../features/session/tenant-screen';
import { Icon, type IconName } from '../shared/icons';
import { useLiveQueries } from '../shared/live/live-queries';
import logo from '../shared/logo.svg';
import { sessionQuery } from '../shared/records';
import { texts } from '../shared/texts';
import styles from './shell.module.css';

/** The screens that the navigation leads to. */
const NAVIGATION = [
  { to: '/runs', icon: 'runs', label: texts.nav.runs },
  { to: '/clusters', icon: 'clusters', label: texts.nav.clusters },
  { to: '/notebooks', icon: 'notebook', label: texts.nav.notebooks },
  { to: '/workspaces', icon: 'folder', label: texts.nav.workspaces },
  { to: '/data', icon: 'data', label: texts.nav.data },
  { to: '/sql', icon: 'terminal', label: texts.nav.sql },
  { to: '/costs', icon: 'cost', label: texts.nav.costs },
  { to: '/access', icon: 'key', label: texts.nav.access },
  { to: '/admin', icon: 'gear', label: texts.nav.admin },
] as const satisfies readonly { to: string; icon: IconName; label: string }[];

/** The screens that can be found by their names. */
const SCREENS = [...NAVIGATION, { to: '/account', icon: 'key', label: texts.session.rights }] as const;

/** The frame of every screen of a signed-in user. */
export function Shell({ user }: { user: UserInfo }): ReactNode {
  const queries = useQueryClient();
  // A session that has ended leads to the login.
  const checkSession = useCallback(
    () => void queries.invalidateQueries({ queryKey: sessionQuery.queryKey }),
    [queries],
  );
  useLiveQueries(user.user_id, user.tenant_id, checkSession);
  return (
    <div className={styles['shell']}>
      <a className={styles['skip']} href="#content">
        {texts.nav.skip}
      </a>
      <nav className={styles['side']} aria-label={texts.nav.label}>
        <div className={styles['brand']}>
          <img src={logo} alt="" width={22} height={22} />
          {texts.product}
        </div>
        <TenantMenu selected={user.tenant_id} />
        <PaletteButton screens={SCREENS} />
        <ul className={styles['links']}>
          {NAVIGATION.map(({ to, icon, label }) => (
            <li key={to}>
              <Link to={to} className={styles['link']} activeProps={{ 'aria-current': 'page' }}>
                <Icon name={icon} size={17} />
                {label}
              </Link>
            </li>
          ))}
        </ul>
        <div className={styles['bottom']}>
          <a className={styles['link']} href={apiUrl('/docs')} target="_blank" rel="noreferrer">
            <Icon name="book" size={17} />
            {texts.nav.docs}
          </a>
          <UserMenu user={user} />
        </div>
      </nav>
      <main className={styles['content']} id="content" tabIndex={-1}>
        {user.tenant_id === null ? <TenantScreen /> : <Outlet />}
      </main>
    </div>
  );
}

function TenantMenu({ selected }: { selected: string | null }): ReactNode {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data } = useQuery(tenantsQuery);
  const choose = useMutation({
    mutationFn: async (tenantId: string) => {
      await chooseTenant(queries, tenantId);
      await navigate({ to: '/runs' });
    },
  });
  const tenants = data?.data ?? [];
  const current = tenants.find(({ tenant_id: id }) => id === selected)?.name ?? texts.tenant.none;
  return (
    <Menu position="bottom-start" width="target">
      <Menu.Target>
        <UnstyledButton className={styles['tenant']} aria-label={`${texts.tenant.label}: ${current}`}>
          <Icon name="building" />
          <span className={styles['ellipsis']}>{data ? current : '…'}</span>
          <Icon name="selector" size={14} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown className={styles['tenants']}>
        {tenants.map(({ tenant_id: id, name }) => (
          <Menu.Item
            key={id}
            onClick={() => choose.mutate(id)}
            rightSection={id === selected ? <Icon name="check" size={14} /> : null}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

const SCHEMES = [
  { scheme: 'auto', icon: 'monitor', label: texts.theme.auto },
  { scheme: 'light', icon: 'sun', label: texts.theme.light },
  { scheme: 'dark', icon: 'moon', label: texts.theme.dark },
] as const;

function UserMenu({ user }: { user: UserInfo }): ReactNode {
  const queries = useQueryClient();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const leave = useMutation({ mutationFn: (everywhere: boolean) => logOut(queries, everywhere) });
  return (
    <Menu position="top-start" width={220}>
      <Menu.Target>
        <UnstyledButton
          className={styles['user']}
          aria-label={`${texts.session.account}: ${user.display_name ?? user.username}`}
        >
          <span className={styles['avatar']} data-letter={user.username.slice(0, 1).toUpperCase()} />
          <span className={styles['ellipsis']}>{user.display_name ?? user.username}</span>
          <Icon name="selector" size={14} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{texts.theme.label}</Menu.Label>
        {SCHEMES.map(({ scheme, icon, label }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon name={icon} />}
            rightSection={scheme === colorScheme ? <Icon name="check" size={14} /> : null}
            onClick={() => setColorScheme(scheme)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="key" />} renderRoot={(props) => <Link to="/account" {...props} />}>
          {texts.session.rights}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="logout" />} onClick={() => leave.mutate(false)}>
          {texts.session.logout}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="logout" />} onClick={() => leave.mutate(true)}>
          {texts.session.logoutEverywhere}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
