import { Select } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ClusterChoice } from './cluster-choices';
import styles from './cluster-select.module.css';
import { commonTexts } from './common-texts';
import { stateLook } from './state-badge';

const texts = commonTexts.clusterSelect;
/** A list of more clusters than this is searched. */
const MANY = 8;
const MAX_SHOWN = 200;

interface ClusterSelectProps {
  clusters: readonly ClusterChoice[];
  /** Says what the cluster is for; shown unless there is none. */
  hint: string;
  value: string | null;
  error?: string | undefined;
  onChange: (value: string | null) => void;
}

/** Chooses one of the clusters that can take work. Those that are reserved for other workspaces say so. */
export function ClusterSelect({ clusters, hint, value, error, onChange }: ClusterSelectProps): ReactNode {
  const reserved = clusters.filter(({ why }) => why !== null);
  const chosen = clusters.find(({ cluster_id: id }) => String(id) === value);
  return (
    <Select
      label={texts.label}
      description={descriptionOf(clusters, chosen, hint)}
      allowDeselect={false}
      searchable={clusters.length > MANY}
      limit={MAX_SHOWN}
      data={clusters.map(({ cluster_id: id, name, cluster_status: status, why }) => ({
        value: String(id),
        label: `${name} · ${stateLook(status, 'cluster').label}`,
        disabled: why !== null,
      }))}
      renderOption={({ option }) => (
        <span>
          {option.label}
          {option.disabled && (
            <span className={styles['why']}>
              {reserved.find(({ cluster_id: id }) => String(id) === option.value)?.why}
            </span>
          )}
        </span>
      )}
      value={value}
      error={error}
      onChange={onChange}
    />
  );
}

/** The keys pass over an entry that cannot be chosen, so the field itself names it, too. */
function descriptionOf(clusters: readonly ClusterChoice[], chosen: ClusterChoice | undefined, hint: string): string {
  if (chosen && chosen.why !== null) return chosen.why;
  const reserved = clusters.filter(({ why }) => why !== null).map(({ name }) => name);
  const first = clusters.length === reserved.length ? texts.none : hint;
  return reserved.length === 0 ? first : `${first} ${texts.notHere(reserved)}`;
}
