import type { NotebookRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { Icon, type IconName } from '../../shared/icons';
import { notebookTexts } from '../../shared/notebook-texts';
import type { StateTone } from '../../shared/state-badge';
import { isUnfinished } from './notebooks-api';
import badge from '../../shared/state-badge.module.css';

const t = notebookTexts.kernel;

export type KernelLook = keyof typeof t;

const LOOKS: Readonly<Record<KernelLook, { icon: IconName; tone: StateTone; moves?: boolean }>> = {
  none: { icon: 'stopped', tone: 'waiting' },
  submitted: { icon: 'waiting', tone: 'waiting' },
  starting: { icon: 'active', tone: 'active', moves: true },
  idle: { icon: 'done', tone: 'done' },
  busy: { icon: 'active', tone: 'active', moves: true },
  restarting: { icon: 'active', tone: 'active', moves: true },
  dead: { icon: 'failed', tone: 'failed' },
  ended: { icon: 'stopped', tone: 'waiting' },
  stopping: { icon: 'active', tone: 'ending', moves: true },
  connecting: { icon: 'active', tone: 'waiting', moves: true },
  unknown: { icon: 'info', tone: 'waiting' },
};

const SAID = new Set(['busy', 'idle', 'dead']);

/** Returns the state of the kernel: what it says itself, or else what the server knows of it. */
export function kernelLook(instance: NotebookRead | null, said: string | null, isConnected: boolean): KernelLook {
  if (!instance) return 'none';
  const { notebook_status: status, kernel_info: kernel } = instance;
  if (!isUnfinished(instance)) return 'ended';
  if (status === 'SUBMITTED') return 'submitted';
  if (status !== 'RUNNING') return 'stopping';
  // A kernel says that it starts, and not when it has; after that it speaks only of what it executes.
  const known = isConnected && said !== null && SAID.has(said) ? said : (kernel?.kernel_status ?? 'unknown');
  if (known === 'dead' || kernel?.kernel_status === 'dead') return 'dead';
  if (!isConnected) return 'connecting';
  return Object.hasOwn(LOOKS, known) ? (known as KernelLook) : 'unknown';
}

/** The state of a kernel: a picture, a word and a colour. */
export function KernelBadge({ look }: { look: KernelLook }): ReactNode {
  const { icon, tone, moves = false } = LOOKS[look];
  return (
    <span className={badge['badge']} data-tone={tone} role="status">
      <Icon name={icon} className={moves ? badge['turning'] : undefined} />
      {t[look]}
    </span>
  );
}
