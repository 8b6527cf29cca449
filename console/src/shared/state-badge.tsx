import type { ReactNode } from 'react';
import { Icon, type IconName } from './icons';
import styles from './state-badge.module.css';

export type StateTone = 'done' | 'failed' | 'active' | 'waiting' | 'ending';

interface StateLook {
  icon: IconName;
  tone: StateTone;
  label: string;
}

/** States of runs, clusters and nodes. Each has a picture of its own, so that colour says nothing that the picture does not. */
const LOOKS: Readonly<Record<string, StateLook>> = {
  SUBMITTED: { icon: 'waiting', tone: 'waiting', label: 'Waiting' },
  RUNNING: { icon: 'active', tone: 'active', label: 'Running' },
  DONE: { icon: 'done', tone: 'done', label: 'Done' },
  ERROR: { icon: 'failed', tone: 'failed', label: 'Failed' },
  TERMINATED: { icon: 'lost', tone: 'failed', label: 'Terminated' },
  STOPPING: { icon: 'active', tone: 'ending', label: 'Stopping' },
  STOPPED: { icon: 'stopped', tone: 'waiting', label: 'Stopped' },
  KILLING: { icon: 'active', tone: 'ending', label: 'Killing' },
  KILLED: { icon: 'killed', tone: 'ending', label: 'Killed' },
};

/** A cluster that is RUNNING is ready and does not move, unlike a run. */
const CLUSTER_LOOKS: Readonly<Record<string, StateLook>> = {
  ...LOOKS,
  INITIATING: { icon: 'active', tone: 'active', label: 'Starting' },
  RUNNING: { icon: 'done', tone: 'done', label: 'Running' },
  DESTROYING: { icon: 'active', tone: 'ending', label: 'Being destroyed' },
  DESTROYED: { icon: 'killed', tone: 'waiting', label: 'Destroyed' },
  RESIZING_UP: { icon: 'active', tone: 'active', label: 'Growing' },
  RESIZING_DOWN: { icon: 'active', tone: 'active', label: 'Shrinking' },
};

export function stateLook(state: string, of: 'run' | 'cluster' = 'run'): StateLook {
  const look = (of === 'run' ? LOOKS : CLUSTER_LOOKS)[state];
  return look ?? { icon: 'info', tone: 'waiting', label: state };
}

interface StateBadgeProps {
  state: string;
  of?: 'run' | 'cluster';
  /** True for a state that has ended, so that nothing moves. */
  isOver?: boolean;
}

/** The state of a run, cluster or node: a picture, a word and a colour. */
export function StateBadge({ state, of = 'run', isOver = false }: StateBadgeProps): ReactNode {
  const { icon, tone, label } = stateLook(state, of);
  return (
    <span className={styles['badge']} data-tone={tone} title={state}>
      <Icon name={icon} className={icon === 'active' && !isOver ? styles['turning'] : undefined} />
      {label}
    </span>
  );
}
