import { Select } from '@mantine/core';
import type { ClusterRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { commonTexts } from './common-texts';
import { stateLook } from './state-badge';

const texts = commonTexts.clusterSelect;
/** A list of more clusters than this is searched. */
const MANY = 8;
const MAX_SHOWN = 200;

interface ClusterSelectProps {
  clusters: readonly ClusterRead[];
  /** Says what the cluster is for; shown unless there is none. */
  hint: string;
  value: string | null;
  error?: string | undefined;
  onChange: (value: string | null) => void;
}

/** Chooses one of the clusters that can take work. */
export function ClusterSelect({ clusters, hint, value, error, onChange }: ClusterSelectProps): ReactNode {
  return (
    <Select
      label={texts.label}
      description={clusters.length === 0 ? texts.none : hint}
      allowDeselect={false}
      searchable={clusters.length > MANY}
      limit={MAX_SHOWN}
      data={clusters.map(({ cluster_id: id, name, cluster_status: status }) => ({
        value: String(id),
        label: `${name} · ${stateLook(status, 'cluster').label}`,
      }))}
      value={value}
      error={error}
      onChange={onChange}
    />
  );
}
