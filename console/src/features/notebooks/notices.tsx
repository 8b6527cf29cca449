import { Button } from '@mantine/core';
import type { NotebookRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { ActionButton } from '../../shared/action-button';
import { Icon } from '../../shared/icons';
import { notebookTexts as t } from '../../shared/notebook-texts';
import type { Reason } from '../../shared/rights/rights';
import type { KernelLook } from './kernel-badge';
import type { TheirChange } from './merge-cells';
import styles from './notices.module.css';

interface KernelNoticeProps {
  look: KernelLook;
  instance: NotebookRead;
  whyNotRun: Reason;
  onStart: () => void;
}

/** Says why the kernel is dead or has ended, and what to do. */
export function KernelNotice({ look, instance, whyNotRun, onStart }: KernelNoticeProps): ReactNode {
  const isDead = look === 'dead';
  const hasFailed = look === 'ended' && instance.reason_code !== null && instance.notebook_status !== 'DONE';
  if (!isDead && !hasFailed) return null;
  const reason = isDead ? instance.kernel_info?.reason : instance.reason;
  return (
    <section
      className={styles['notice']}
      data-tone={instance.notebook_status === 'STOPPED' ? undefined : 'failed'}
      role="status"
    >
      <Icon name={isDead ? 'failed' : 'info'} size={20} />
      <div className={styles['text']}>
        <h2 className={styles['title']}>{isDead ? t.dead : t.ended}</h2>
        {reason && <p>{reason}</p>}
        {isDead && <p className={styles['soft']}>{t.deadHint}</p>}
      </div>
      <ActionButton why={whyNotRun} variant="default" onClick={onStart}>
        {t.startAgain}
      </ActionButton>
    </section>
  );
}

interface TheirsNoticeProps {
  by: string | null;
  changes: readonly TheirChange[];
  onConfirm: () => void;
}

const KINDS = ['added', 'edited', 'removed', 'both'] as const;

/** Says what somebody else has changed. */
export function TheirsNotice({ by, changes, onConfirm }: TheirsNoticeProps): ReactNode {
  const parts = KINDS.flatMap((kind) => {
    const count = changes.filter(({ what }) => what === kind).length;
    return count === 0 ? [] : [t.changes[kind](count)];
  });
  return (
    <section className={styles['notice']} role="status">
      <Icon name="people" size={20} />
      <div className={styles['text']}>
        <h2 className={styles['title']}>{t.merged(by ?? t.somebody)}</h2>
        <p>{parts.join(', ')}.</p>
      </div>
      <Button variant="default" onClick={onConfirm}>
        {t.dismiss}
      </Button>
    </section>
  );
}
