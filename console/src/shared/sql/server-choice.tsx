import { Button, Menu } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ClusterRead, JobRead } from 'managed-spark/types';
import { type ReactNode, type RefObject, useState } from 'react';
import { ActionButton, ActionItem } from '../action-button';
import { useClusterChoices } from '../cluster-choices';
import { Icon } from '../icons';
import { ProblemPanel } from '../problem-panel';
import { Question } from '../question';
import { useMay } from '../rights/use-may';
import { sqlTexts as t } from '../sql-texts';
import { StateBadge } from '../state-badge';
import { dateOf, durationText, useNow } from '../time';
import styles from './server-choice.module.css';
import { serverQuery, serversQuery, startServer, stopServer } from './sql-servers';

interface ServerChoiceProps {
  workspaceId: number;
  /** Id of the chosen server's run. */
  selected: number | undefined;
  /** Only servers on clusters with this catalog are offered. */
  metastoreId?: number;
  onChange: (jobId: number | undefined) => void;
}

/** Chooses a running SQL server of the workspace, or starts one. A click on the element of `button` opens the choice. */
export function ServerChoice(props: ServerChoiceProps & { button?: RefObject<HTMLButtonElement | null> }): ReactNode {
  const { workspaceId, metastoreId, selected, onChange, button } = props;
  const queries = useQueryClient();
  const { data: all = [] } = useQuery(serversQuery(workspaceId));
  const { clusters: everyCluster = [] } = useClusterChoices(workspaceId);
  const unable = useMay(['createJobConf', 'updateJobConf', 'createJob'], workspaceId);
  const clusters = everyCluster.filter((cluster) => hasCatalog(cluster, metastoreId));
  const servers =
    metastoreId === undefined
      ? all
      : all.filter(({ cluster_id: id }) => clusters.some(({ cluster_id: of }) => of === id));
  const start = useMutation({
    mutationFn: (cluster: ClusterRead) => startServer(workspaceId, cluster),
    onSuccess: async (jobId) => {
      onChange(jobId);
      await queries.invalidateQueries({ queryKey: ['sql', 'servers', workspaceId] });
    },
  });
  const chosen = servers.find(({ job_id: id }) => id === selected);
  const shown = chosen ? nameOf(chosen) : t.chooseServer;
  return (
    <>
      <Menu position="bottom-start" width={340}>
        <Menu.Target>
          <Button
            ref={button}
            variant="default"
            aria-label={`${t.server}: ${shown}`}
            loading={start.isPending}
            leftSection={<Icon name="clusters" />}
            rightSection={<Icon name="chevronDown" size={14} />}
          >
            {shown}
          </Button>
        </Menu.Target>
        <Menu.Dropdown className={styles['menu']}>
          <Menu.Label>{servers.length > 0 ? t.running : t.noneRuns}</Menu.Label>
          {servers.map((server) => (
            <Menu.Item
              key={server.job_id}
              leftSection={<Icon name={server.job_id === selected ? 'check' : 'terminal'} size={14} />}
              aria-current={server.job_id === selected}
              rightSection={<ServerBadge server={server} />}
              onClick={() => onChange(server.job_id)}
            >
              {nameOf(server)} <span className={styles['faint']}>#{server.job_id}</span>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Label>{clusters.length > 0 ? t.startOn : t.noCluster}</Menu.Label>
          {clusters.map((cluster) => (
            <ActionItem
              key={cluster.cluster_id}
              why={unable ?? cluster.why}
              leftSection={<Icon name="play" size={14} />}
              rightSection={<StateBadge state={cluster.cluster_status} of="cluster" />}
              onClick={() => start.mutate(cluster)}
            >
              {cluster.name}
              <div className={styles['faint']}>{waitText(cluster)}</div>
            </ActionItem>
          ))}
        </Menu.Dropdown>
      </Menu>
      {start.isError && <ProblemPanel error={start.error} />}
    </>
  );
}

/** Says how long a chosen server has been starting, why it ended, and leads to its run; stops it. */
export function ServerState({ workspaceId, selected, onChange }: ServerChoiceProps): ReactNode {
  const jobId = selected ?? 0;
  const queries = useQueryClient();
  const now = useNow(1_000);
  const [isAsking, setIsAsking] = useState(false);
  const unstoppable = useMay('killJob', workspaceId);
  const { data: server, error } = useQuery({ ...serverQuery({ workspaceId, jobId }), enabled: selected !== undefined });
  if (selected === undefined) return null;
  if (error && !server) return <ProblemPanel error={error} />;
  if (!server) return null;
  const isAlive = server.job_status === 'RUNNING' || server.job_status === 'SUBMITTED';
  const stop = async () => {
    await stopServer({ workspaceId, jobId });
    onChange(undefined);
    await queries.invalidateQueries({ queryKey: ['sql', 'servers', workspaceId] });
  };
  return (
    <span className={styles['state']}>
      <ServerBadge server={server} />
      {server.job_status === 'SUBMITTED' && (
        <span role="status">
          {t.starting(server.cluster_info.name, durationText(now - (dateOf(server.from_date)?.getTime() ?? now)))}
        </span>
      )}
      {!isAlive && <span>{t.serverEnded(server.reason)}</span>}
      <Link to="/runs/$workspaceId/$runId" params={{ workspaceId, runId: jobId }}>
        {t.openRun}
      </Link>
      {isAlive && (
        <ActionButton why={unstoppable} variant="default" size="compact-xs" onClick={() => setIsAsking(true)}>
          {t.stop}
        </ActionButton>
      )}
      {isAsking && (
        <Question
          title={t.stopTitle(nameOf(server))}
          confirm={t.stop}
          cancel={t.keep}
          isDangerous
          act={stop}
          onClose={() => setIsAsking(false)}
        >
          <p>{t.stopHint}</p>
        </Question>
      )}
    </span>
  );
}

/** A server that runs is ready, as a cluster is. */
function ServerBadge({ server: { job_status: status } }: { server: JobRead }): ReactNode {
  return <StateBadge state={status} {...(status === 'RUNNING' && { of: 'cluster' as const })} />;
}

function hasCatalog({ metastore_catalog: catalog }: ClusterRead, metastoreId: number | undefined): boolean {
  return metastoreId === undefined || catalog?.metastore_catalog_id === metastoreId;
}

function nameOf({ job_conf: { name } }: JobRead): string {
  return name;
}

function waitText({ cluster_status: status, total_ycu: units }: ClusterRead): string {
  const wait = status === 'RUNNING' ? t.clusterRuns : t.clusterStarts;
  return units > 0 ? `${wait} · ${t.clusterCost(String(units))}` : wait;
}
