import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { getCluster } from 'managed-spark/operations';
import type { ClusterRead } from 'managed-spark/types';
import { type ReactNode, useState } from 'react';
import { ActionButton } from '../../shared/action-button';
import { CopyAs } from '../../shared/copy-as';
import { Icon } from '../../shared/icons';
import { ProblemPanel } from '../../shared/problem-panel';
import { Question } from '../../shared/question';
import { useMay } from '../../shared/rights/use-may';
import { texts } from '../../shared/texts';
import { clusterQuery, destroy, restore, start, stop } from './clusters-api';
import { mainActionOf, reasonOf } from './cluster-states';
import { ResizeCluster } from './resize-cluster';

const t = texts.cluster;

type Asked = 'stop' | 'destroy' | 'restore';

const OPERATIONS = { start: 'startCluster', stop: 'stopCluster', restore: 'enableCluster' } as const;

/** Everything that can be done with a cluster. What its state or the rights of the user forbid says so. */
export function ClusterActions({ cluster }: { cluster: ClusterRead }): ReactNode {
  const { cluster_id: clusterId, cluster_status: status } = cluster;
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Asked | null>(null);
  const showChange = () => queries.invalidateQueries({ queryKey: clusterQuery(clusterId).queryKey });
  const edited = useMay('updateCluster');
  const destroyed = useMay('destroyCluster') ?? reasonOf('destroy', status);
  const resized = useMay('resizeCluster') ?? reasonOf('resize', status);
  const [isResizing, setIsResizing] = useState(false);
  const starting = useMutation({ mutationFn: () => start(clusterId), onSuccess: showChange });
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="runs" size={14} />}
        renderRoot={(props) => <Link to="/runs" search={{ cluster: clusterId }} {...props} />}
      >
        {t.runs}
      </Button>
      <Button
        variant="default"
        leftSection={<Icon name="cost" size={14} />}
        renderRoot={(props) => <Link to="/costs" search={{ cluster: clusterId }} {...props} />}
      >
        {t.costs}
      </Button>
      <CopyAs call={{ operation: getCluster, query: { cluster_id: clusterId } }} />
      <ActionButton
        why={edited}
        variant="default"
        renderRoot={(props) => <Link to="/clusters/$clusterId/edit" params={{ clusterId }} {...props} />}
      >
        {t.edit}
      </ActionButton>
      <ActionButton why={resized} variant="default" onClick={() => setIsResizing(true)}>
        {t.resize}
      </ActionButton>
      <ActionButton why={destroyed} variant="default" onClick={() => setAsked('destroy')}>
        {t.destroy}
      </ActionButton>
      <MainAction status={status} isStarting={starting.isPending} onStart={() => starting.mutate()} ask={setAsked} />
      {starting.isError && <ProblemPanel error={starting.error} />}
      {isResizing && <ResizeCluster cluster={cluster} onDone={showChange} onClose={() => setIsResizing(false)} />}
      {asked && <Asking asked={asked} cluster={cluster} onDone={showChange} onClose={() => setAsked(null)} />}
    </>
  );
}

interface MainActionProps {
  status: string;
  isStarting: boolean;
  onStart: () => void;
  ask: (asked: Asked) => void;
}

/** Starts, stops or sets up the cluster: what comes next in its life. */
function MainAction({ status, isStarting, onStart, ask }: MainActionProps): ReactNode {
  const action = mainActionOf(status);
  const unable = useMay(OPERATIONS[action]);
  const why = unable ?? reasonOf(action, status);
  switch (action) {
    case 'restore':
      return (
        <ActionButton why={why} onClick={() => ask('restore')}>
          {t.restore}
        </ActionButton>
      );
    case 'start':
      return (
        <ActionButton why={why} leftSection={<Icon name="play" size={14} />} loading={isStarting} onClick={onStart}>
          {t.start}
        </ActionButton>
      );
    case 'stop':
      return (
        <ActionButton
          why={why}
          variant="default"
          leftSection={<Icon name="stop" size={14} />}
          onClick={() => ask('stop')}
        >
          {t.stop}
        </ActionButton>
      );
  }
}

interface AskingProps {
  asked: Asked;
  cluster: ClusterRead;
  onDone: () => Promise<void>;
  onClose: () => void;
}

function Asking({ asked, cluster, onDone, onClose }: AskingProps): ReactNode {
  const { cluster_id: clusterId, name, to_date: end, stop_destroys_nodes: destroysNodes } = cluster;
  const isEnabled = end === null || end === 'infinity';
  const { title, hint, confirm, act } = {
    stop: {
      title: t.stopTitle(name),
      hint: destroysNodes ? t.stopDestroys : t.stopHint,
      confirm: t.stopConfirm,
      act: () => stop(clusterId),
    },
    destroy: {
      title: t.destroyTitle(name),
      hint: t.destroyHint,
      confirm: t.destroyConfirm,
      act: () => destroy(clusterId),
    },
    restore: {
      title: t.restoreTitle(name),
      hint: t.restoreHint,
      confirm: t.restore,
      act: () => restore(clusterId, isEnabled),
    },
  }[asked];
  return (
    <Question
      title={title}
      confirm={confirm}
      {...(asked === 'restore' ? {} : { cancel: asked === 'stop' ? t.keep : t.keepIt })}
      isDangerous={asked !== 'restore'}
      act={() => act().then(onDone)}
      onClose={onClose}
    >
      <p>{hint}</p>
    </Question>
  );
}
