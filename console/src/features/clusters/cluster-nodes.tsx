import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ClusterNodeStateEvent, ClusterRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { EmptyState } from '../../shared/empty-state';
import table from '../../shared/plain-table.module.css';
import { StateBadge } from '../../shared/state-badge';
import { StateHistory } from '../../shared/state-history';
import { texts } from '../../shared/texts';
import { dateOf, durationText } from '../../shared/time';
import styles from './cluster-screen.module.css';
import { nodeErrorsQuery, nodeHistoryQuery } from './clusters-api';

/** The present nodes of a cluster, and every state that nodes have had. */
export function ClusterNodes({ cluster, now }: { cluster: ClusterRead; now: number }): ReactNode {
  const { cluster_id: clusterId, cluster_status: status, nodes } = cluster;
  const { data: history } = useQuery(nodeHistoryQuery(clusterId, status));
  const t = texts.cluster.node;
  if (nodes.length === 0 && history?.data.length === 0)
    return <EmptyState icon="clusters" title={t.none} hint={t.noneHint} />;
  return (
    <>
      {nodes.length > 0 && (
        <div className={table['frame']}>
          <table className={table['table']}>
            <thead>
              <tr>
                <th>{t.node}</th>
                <th>{texts.run.history.state}</th>
                <th>{t.address}</th>
                <th className={table['number']}>{t.age}</th>
                <th className={table['number']}>{t.warm}</th>
                <th>{texts.cluster.tabs.log}</th>
              </tr>
            </thead>
            <tbody>
              {nodes.map((node) => (
                <tr key={node.node_number}>
                  <td>{node.node_number}</td>
                  <td>
                    <StateBadge state={node.node_status} of="cluster" />
                  </td>
                  <td className="mono">{node.node_ip ?? texts.time.never}</td>
                  <td className={table['number']}>{durationText(now - (dateOf(node.from_date)?.getTime() ?? now))}</td>
                  <td className={table['number']}>{node.warm_drivers ?? texts.time.never}</td>
                  <td>
                    <Link
                      to="/clusters/$clusterId"
                      params={{ clusterId }}
                      search={{ tab: 'log', node: node.node_status_id }}
                      aria-label={`${texts.cluster.tabs.log}: ${t.node} ${node.node_number}`}
                    >
                      {texts.cluster.tabs.log}
                    </Link>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <h2 className={styles['heading']}>{t.events}</h2>
      <NodeEvents clusterId={clusterId} events={history?.data ?? []} now={now} />
    </>
  );
}

interface NodeEventsProps {
  clusterId: number;
  events: readonly ClusterNodeStateEvent[];
  now: number;
}

function NodeEvents({ clusterId, events, now }: NodeEventsProps): ReactNode {
  const entries = events.map((event) => ({
    key: event.node_status_id,
    subject: event.node_number,
    state: event.node_status,
    of: 'cluster' as const,
    from: event.start_time,
    to: event.end_time,
    by: event.created_by,
    step: event.step,
    reason: (
      <>
        {event.reason}
        {event.node_status === 'ERROR' && <NodeErrors clusterId={clusterId} event={event} />}
      </>
    ),
  }));
  return <StateHistory subject={texts.cluster.node.node} entries={entries} now={now} />;
}

/** The errors behind the state of a node, if they say more than its reason. */
function NodeErrors({ clusterId, event }: { clusterId: number; event: ClusterNodeStateEvent }): ReactNode {
  const { data: errors } = useQuery(nodeErrorsQuery(clusterId, event.node_status_id));
  const more = errors?.data.filter(({ error }) => error !== event.reason) ?? [];
  return more.map(({ error }, index) => (
    <div key={index} className={styles['error']}>
      {error}
    </div>
  ));
}
