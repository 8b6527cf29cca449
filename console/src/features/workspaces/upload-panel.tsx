import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { ApiError } from 'managed-spark/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from '../../shared/icons';
import { bytes, texts } from '../../shared/texts';
import { isUnderWay, type Upload, uploads, type UploadState, useUploads } from './uploads';
import styles from './upload-panel.module.css';

const LOOKS: Readonly<Record<UploadState, { icon: IconName; tone: string }>> = {
  waiting: { icon: 'waiting', tone: 'waiting' },
  sending: { icon: 'toStart', tone: 'active' },
  done: { icon: 'done', tone: 'done' },
  exists: { icon: 'info', tone: 'ending' },
  kept: { icon: 'stopped', tone: 'waiting' },
  stopped: { icon: 'stopped', tone: 'waiting' },
  failed: { icon: 'failed', tone: 'failed' },
};

/** Files that are being uploaded, or were. Errors and questions stay until somebody closes the list. */
export function UploadPanel({ workspaceId }: { workspaceId: number }): ReactNode {
  const all = useUploads(workspaceId);
  const t = texts.workspaces.uploads;
  if (all.length === 0) return null;
  const existing = all.filter(({ state }) => state === 'exists').map(({ id }) => id);
  // Questions and errors come first, then the files that are under way.
  const order: UploadState[] = ['failed', 'exists', 'sending', 'waiting', 'stopped', 'kept', 'done'];
  const rows = all.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  return (
    <section className={styles['panel']} aria-label={t.label}>
      <header className={styles['head']}>
        <h2 className={styles['title']}>
          <span role="status">{t.summary(all.filter(({ state }) => state === 'done').length, all.length)}</span>
        </h2>
        {existing.length > 1 && (
          <Button variant="default" size="compact-xs" onClick={() => uploads.replace(existing)}>
            {t.replaceAll}
          </Button>
        )}
        {!all.some(isUnderWay) && (
          <Tooltip label={t.dismiss}>
            <ActionIcon variant="subtle" color="gray" aria-label={t.dismiss} onClick={() => uploads.clear(workspaceId)}>
              <Icon name="close" />
            </ActionIcon>
          </Tooltip>
        )}
      </header>
      <ul className={styles['list']}>
        {rows.map((upload) => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
      </ul>
    </section>
  );
}

function UploadRow({ upload }: { upload: Upload }): ReactNode {
  const { path, state, sent, size } = upload;
  const { icon, tone } = LOOKS[state];
  return (
    <li className={styles['row']} data-tone={tone}>
      <Icon name={icon} />
      <div className={styles['text']}>
        <span className={styles['path']} title={path}>
          {path}
        </span>
        {state === 'sending' ? (
          <progress className={styles['bar']} aria-label={path} value={sent} max={Math.max(1, size)} />
        ) : (
          <span className={styles['state']}>{stateText(upload)}</span>
        )}
      </div>
      <UploadActions upload={upload} />
    </li>
  );
}

function stateText({ state, size, error }: Upload): string {
  const t = texts.workspaces.uploads;
  switch (state) {
    case 'failed':
      return error instanceof ApiError && error.correlationId !== ''
        ? `${error.reason} (${error.code}, ${error.correlationId})`
        : String(error instanceof Error ? error.message : error);
    case 'done':
      return `${t.done}, ${bytes(size)}`;
    case 'sending':
      return '';
    case 'waiting':
    case 'exists':
    case 'kept':
    case 'stopped':
      return t[state];
  }
}

function UploadActions({ upload: { id, state } }: { upload: Upload }): ReactNode {
  const t = texts.workspaces.uploads;
  const button = (label: string, act: () => void) => (
    <Button variant="default" size="compact-xs" onClick={act}>
      {label}
    </Button>
  );
  switch (state) {
    case 'exists':
      return (
        <>
          {button(t.keep, () => uploads.keep(id))}
          {button(t.replace, () => uploads.replace([id]))}
        </>
      );
    case 'waiting':
    case 'sending':
      return button(t.stop, () => uploads.stop(id));
    case 'failed':
    case 'stopped':
      return button(t.again, () => uploads.again(id));
    case 'kept':
    case 'done':
      return null;
  }
}
