import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JobRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { ActionButton } from '../../shared/action-button';
import { Icon } from '../../shared/icons';
import { languageOf } from '../../shared/jobs/job-fields';
import { useMay } from '../../shared/rights/use-may';
import { texts } from '../../shared/texts';
import { type RunKey, timelineQuery } from './run-api';
import styles from './run-screen.module.css';

/** Ends that somebody wanted, or that need no remedy. */
const QUIET = ['DONE', 'STOPPED'];

interface RunFailureProps {
  run: JobRead;
  runKey: RunKey;
  onShowLine: () => void;
}

/** Says why a run has failed: a sentence for the reason's code, the words of Spark, what to do, and the way to the line in the log. */
export function RunFailure({ run, runKey, onShowLine }: RunFailureProps): ReactNode {
  const { reason_code: code, reason, exit_code: exitCode, job_status: status } = run;
  const { data: timeline } = useQuery(timelineQuery(runKey, status));
  if (code === null || QUIET.includes(status)) return null;
  const title = texts.reasons[code];
  const remedy = timeline?.remedy ?? '';
  return (
    <section className={styles['failure']} aria-label={title}>
      <Icon name="failed" size={20} />
      <div className={styles['failureText']}>
        <h2 className={styles['failureTitle']}>
          {title}
          <span className={styles['code']}>
            {code}
            {exitCode !== null && exitCode !== 0 && ` · ${texts.run.failed.exit} ${exitCode}`}
          </span>
        </h2>
        {reason !== null && <p className={styles['reason']}>{withoutRemedy(reason, remedy)}</p>}
        {remedy !== '' && <p className={styles['remedy']}>{remedy}</p>}
      </div>
      <div className={styles['failureActions']}>
        <Button variant="default" onClick={onShowLine}>
          {texts.run.failed.place}
        </Button>
        <Fix run={run} />
      </div>
    </section>
  );
}

/** Leads to what can be changed: the file that has run, or else the job with its settings. */
function Fix({ run }: { run: JobRead }): ReactNode {
  const { workspace_id: workspaceId, job_id: again, job_conf: conf } = run;
  const path = conf.command;
  const why = useMay(['updateJobConf', 'uploadWorkspaceFile', 'createJob'], workspaceId);
  const isFile = path !== null && languageOf(path) === 'Python3' && !path.includes('://');
  return (
    <ActionButton
      why={why}
      renderRoot={(props) =>
        isFile ? (
          <Link to="/workspaces/$workspaceId/file" params={{ workspaceId }} search={{ path, again }} {...props} />
        ) : (
          <Link
            to="/workspaces/$workspaceId/jobs/$jobId"
            params={{ workspaceId, jobId: conf.job_conf_id }}
            search={{}}
            {...props}
          />
        )
      }
    >
      {texts.run.failed.fix}
    </ActionButton>
  );
}

/** The reason may end with the same advice. */
function withoutRemedy(reason: string, remedy: string): string {
  return remedy !== '' && reason.endsWith(remedy) ? reason.slice(0, -remedy.length).trimEnd() : reason;
}
