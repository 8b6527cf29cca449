import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Icon } from '../../shared/icons';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { workspaceQuery } from '../../shared/records';
import { bytes, number, texts } from '../../shared/texts';
import { FilesBrowser } from './files-browser';
import { JobsList } from './jobs-list';
import { usageQuery } from './workspaces-api';
import { WORKSPACE_TABS } from './workspaces-search';
import tabs from '../../shared/tabs.module.css';

export function WorkspaceScreen(): ReactNode {
  const { workspaceId } = useParams({ from: '/workspaces/$workspaceId' });
  const { tab = 'files' } = useSearch({ from: '/workspaces/$workspaceId' });
  const navigate = useNavigate({ from: '/workspaces/$workspaceId' });
  const { data: workspace, error, refetch } = useQuery(workspaceQuery(workspaceId));
  const { data: usage } = useQuery(usageQuery(workspaceId));
  const t = texts.workspaces;
  const limit = usage?.limit_size_bytes ?? null;
  return (
    <Page
      title={workspace?.name ?? `#${workspaceId}`}
      trail={<Link to="/workspaces">{t.title}</Link>}
      subtitle={
        <>
          {workspace?.description}
          {workspace?.description && usage && ' · '}
          {usage &&
            t.usage(number(usage.file_count), bytes(usage.total_size_bytes), limit === null ? null : bytes(limit))}
        </>
      }
      fill
    >
      {error && !workspace ? (
        <ProblemPanel error={error} onRetry={() => void refetch()} />
      ) : (
        <Tabs
          value={tab}
          onChange={(value) =>
            void navigate({ search: { tab: WORKSPACE_TABS.find((one) => one === value) }, replace: true })
          }
          className={tabs['tabs']}
          classNames={{ panel: tabs['panel'] }}
          keepMounted={false}
        >
          <Tabs.List>
            {WORKSPACE_TABS.map((one) => (
              <Tabs.Tab key={one} value={one}>
                {t.tabs[one]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="files">
            <FilesBrowser key={workspaceId} workspaceId={workspaceId} />
          </Tabs.Panel>
          <Tabs.Panel value="jobs">
            <JobsList workspaceId={workspaceId} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Page>
  );
}

/** The way from the list of workspaces down to a folder. */
export function WorkspaceTrail({ workspaceId, children }: { workspaceId: number; children?: ReactNode }): ReactNode {
  const { data: workspace } = useQuery(workspaceQuery(workspaceId));
  return (
    <>
      <Link to="/workspaces">{texts.workspaces.title}</Link>
      <Icon name="chevronRight" size={12} />
      <Link to="/workspaces/$workspaceId" params={{ workspaceId }}>
        {workspace?.name ?? '…'}
      </Link>
      {children}
    </>
  );
}
