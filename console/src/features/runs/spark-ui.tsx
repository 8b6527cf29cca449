import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { JobRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { apiUrl } from '../../api/client';
import { ActionButton } from '../../shared/action-button';
import { CopyButton } from '../../shared/copy-button';
import { Icon } from '../../shared/icons';
import { texts } from '../../shared/texts';
import type { RunKey } from './run-api';
import { whyNoSparkUi } from './run-states';
import { isActive } from './runs-search';
import styles from './run-screen.module.css';

const t = texts.run.sparkUi;

/** Says how Spark's own pages of a run are shown. Jobs write what is on these pages, so the user's machine serves them, and not this server. */
export function SparkUi({ run, runKey: { workspaceId, runId } }: { run: JobRead; runKey: RunKey }): ReactNode {
  const [isShown, shown] = useDisclosure(false);
  const command = `msp spark-ui ${runId} -w ${workspaceId}`;
  return (
    <>
      <ActionButton
        why={whyNoSparkUi(run)}
        variant="default"
        leftSection={<Icon name="monitor" size={14} />}
        onClick={shown.open}
      >
        {t.open}
      </ActionButton>
      <Modal opened={isShown} onClose={shown.close} title={t.title} centered>
        <div className={styles['sparkUi']}>
          <p>
            {t.hint} {isActive(run.job_status) && t.follows}
          </p>
          <p className={styles['command']} aria-label={t.command} role="group">
            <code className="mono">{command}</code> <CopyButton text={command} />
          </p>
          <p className={styles['remedy']}>{t.needs}</p>
          <div className={styles['answers']}>
            <Button
              component="a"
              href={apiUrl(`/workspace/${workspaceId}/spark/job/${runId}/log/events`)}
              download={`run-${runId}-events.log`}
              variant="default"
              leftSection={<Icon name="download" size={14} />}
            >
              {t.file}
            </Button>
            <Button onClick={shown.close}>{t.close}</Button>
          </div>
        </div>
      </Modal>
    </>
  );
}
