import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ClusterRead } from 'managed-spark/types';
import { type ReactNode, useState } from 'react';
import { Icon } from '../../shared/icons';
import { ProblemPanel } from '../../shared/problem-panel';
import { Question } from '../../shared/question';
import { texts } from '../../shared/texts';
import { clusterQuery, destroy, restore, start, stop } from './clusters-api';

const t = texts.cluster;

/** The states in which a cluster can be destroyed. */
const DESTROYABLE = ['RUNNING', 'STOPPED', 'ERROR'];

type Asked = 'stop' | 'destroy' | 'restore';

/** Everything that can be done with a cluster in its present state. */
export function ClusterActions({ cluster }: { cluster: ClusterRead }): ReactNode {
  const { cluster_id: clusterId, cluster_status: status } = cluster;
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Asked | null>(null);
  const showChange = () => queries.invalidateQueries({ queryKey: clusterQuery(clusterId).queryKey });
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
      <Button
        variant="default"
        renderRoot={(props) => <Link to="/clusters/$clusterId/edit" params={{ clusterId }} {...props} />}
      >
        {t.edit}
      </Button>
      {DESTROYABLE.includes(status) && (
        <Button variant="default" onClick={() => setAsked('destroy')}>
          {t.destroy}
        </Button>
      )}
      {status === 'DESTROYED' && <Button onClick={() => setAsked('restore')}>{t.restore}</Button>}
      {status === 'STOPPED' && (
        <Button
          leftSection={<Icon name="play" size={14} />}
          loading={starting.isPending}
          onClick={() => starting.mutate()}
        >
          {t.start}
        </Button>
      )}
      {status === 'RUNNING' && (
        <Button variant="default" leftSection={<Icon name="stop" size={14} />} onClick={() => setAsked('stop')}>
          {t.stop}
        </Button>
      )}
      {starting.isError && <ProblemPanel error={starting.error} />}
      {asked && <Asking asked={asked} cluster={cluster} onDone={showChange} onClose={() => setAsked(null)} />}
    </>
  );
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
