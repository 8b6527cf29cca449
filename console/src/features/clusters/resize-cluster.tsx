import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { CheckCluster, ClusterCost, ClusterRead } from 'managed-spark/types';
import { type ReactNode, useState } from 'react';
import { clusterTexts } from '../../shared/cluster-texts';
import { commonTexts } from '../../shared/common-texts';
import { Facts } from '../../shared/facts';
import { Question } from '../../shared/question';
import { texts } from '../../shared/texts';
import { clusterCheckQuery } from './cluster-form-api';
import { amountText } from './cluster-summary';
import { resize } from './clusters-api';

const t = texts.cluster.resizing;
/** Time without a change after which the price is read, milliseconds. */
const CHECK_DELAY_MS = 250;
const MAX_INSTANCES = 30;

interface ResizeClusterProps {
  cluster: ClusterRead;
  onDone: () => Promise<void>;
  onClose: () => void;
}

/** Asks for the minimum and the maximum of a running cluster, and shows what it costs with them. */
export function ResizeCluster({ cluster, onDone, onClose }: ResizeClusterProps): ReactNode {
  const { cluster_id: clusterId, cluster_type: type } = cluster;
  const before = boundsOf(cluster);
  const [given, setGiven] = useState({ min: String(before.min), max: String(before.max) });
  const [min, max] = [numberOf(given.min), numberOf(given.max)];
  const isChanged = min !== before.min || max !== before.max;
  const fault = min !== null && max !== null && min > max ? t.contradiction : undefined;
  const isValid = min !== null && max !== null && fault === undefined;
  const [checked] = useDebouncedValue(isValid ? bodyOf(cluster, { min, max }) : null, CHECK_DELAY_MS);
  const now = useQuery(clusterCheckQuery({ cluster_id: clusterId }));
  const then = useQuery({ ...clusterCheckQuery(checked ?? { cluster_id: clusterId }), enabled: checked !== null });
  const input = (which: 'min' | 'max', error?: string) => (
    <TextInput
      label={type === 'CLUSTER' ? t.workers[which] : t.nodes[which]}
      inputMode="numeric"
      autoComplete="off"
      value={given[which]}
      error={numberOf(given[which]) === null ? t.range(MAX_INSTANCES) : error}
      data-autofocus={which === 'min' || undefined}
      onChange={({ currentTarget: { value } }) => setGiven((values) => ({ ...values, [which]: value }))}
    />
  );
  return (
    <Question
      title={t.title(cluster.name)}
      confirm={t.confirm}
      isReady={isValid && isChanged}
      act={() => (isValid ? resize(clusterId, { min, max }).then(onDone) : Promise.resolve())}
      onClose={onClose}
    >
      <p>{t.hint}</p>
      {input('min')}
      {input('max', fault)}
      <Facts
        facts={[
          { label: t.costNow, value: costText(now.data?.cost) },
          { label: t.costThen, value: costText(isValid ? then.data?.cost : null) },
        ]}
      />
    </Question>
  );
}

function costText(cost: ClusterCost | null | undefined): string {
  return cost ? `${amountText(cost)} ${clusterTexts.cost.perHour}` : commonTexts.none;
}

/** A CLUSTER whose minimum is its maximum has a fixed number of workers. */
function boundsOf({ cluster_type: type, min_instances, max_instances, engine_cluster_spark_config }: ClusterRead) {
  const min = min_instances ?? 1;
  const max = max_instances ?? min;
  const isFixed = type === 'CLUSTER' && (min_instances === null || min === max);
  const workers = engine_cluster_spark_config.num_of_workers ?? min;
  return isFixed ? { min: workers, max: workers } : { min, max };
}

function bodyOf(
  { cluster_id, cluster_type: type }: ClusterRead,
  { min, max }: { min: number; max: number },
): CheckCluster {
  const bounds = { cluster_id, min_instances: min, max_instances: max };
  return type === 'CLUSTER' && min === max
    ? { ...bounds, engine_cluster_spark_config: { num_of_workers: min } }
    : bounds;
}

/** Returns the number of instances that a text means; null if no cluster may have it. */
function numberOf(text: string): number | null {
  const value = Number(text);
  return /^\d+$/.test(text.trim()) && value >= 1 && value <= MAX_INSTANCES ? value : null;
}
