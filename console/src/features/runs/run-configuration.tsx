import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JobRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { type Fact, Facts } from '../../shared/facts';
import { JobChanges } from '../../shared/jobs/job-changes';
import { ProblemPanel } from '../../shared/problem-panel';
import { texts } from '../../shared/texts';
import { RelativeTime, useNow } from '../../shared/time';
import { lastSuccessQuery } from './run-api';
import list from '../../shared/list-screen.module.css';
import styles from './run-screen.module.css';

/** The configuration that a run was submitted with. */
export function RunConfiguration({ run }: { run: JobRead }): ReactNode {
  return (
    <>
      <h2 className={styles['heading']}>{texts.run.compared.title}</h2>
      <Comparison run={run} />
      <h2 className={styles['heading']}>{texts.run.configuration.title}</h2>
      <Facts facts={factsOf(run)} />
    </>
  );
}

/** Says which settings differ from those of the last run that succeeded. */
function Comparison({ run }: { run: JobRead }): ReactNode {
  const { data: before, error, refetch } = useQuery(lastSuccessQuery(run));
  const now = useNow(10_000);
  const t = texts.run.compared;
  if (error) return <ProblemPanel error={error} onRetry={() => void refetch()} />;
  if (before === undefined) return null;
  if (before === null) return <p className={list['soft']}>{t.none}</p>;
  const { workspace_id: workspaceId, job_id: runId, from_date: at } = before;
  return (
    <>
      <p className={list['soft']}>
        {t.with}{' '}
        <Link to="/runs/$workspaceId/$runId" params={{ workspaceId, runId }}>
          #{runId}
        </Link>{' '}
        <RelativeTime at={at} now={now} />
      </p>
      <JobChanges before={before} after={run} none={<p>{t.same}</p>} />
    </>
  );
}

function factsOf(run: JobRead): Fact[] {
  const { job_conf: conf } = run;
  const t = texts.run.configuration;
  const start = run.started_warm === null ? null : run.started_warm ? t.warm : `${t.cold}. ${run.cold_reason ?? ''}`;
  return [
    { label: t.id, value: String(run.job_id), isCode: true },
    { label: t.application, value: run.job_application_id, isCode: true },
    { label: t.language, value: conf.spark_job_type.language },
    { label: t.command, value: conf.command, isCode: true },
    { label: t.arguments, value: run.arguments ?? conf.arguments, isCode: true },
    { label: t.className, value: conf.class_name, isCode: true },
    { label: t.driverMemory, value: conf.driver_memory },
    { label: t.driverCores, value: conf.driver_cores },
    { label: t.executorMemory, value: conf.executor_memory },
    { label: t.executorCores, value: conf.executor_cores },
    { label: t.executors, value: conf.num_executors },
    { label: t.properties, value: run.conf ?? conf.conf, isCode: true },
    { label: t.packages, value: conf.packages, isCode: true },
    { label: t.jars, value: conf.jars, isCode: true },
    { label: t.files, value: conf.files, isCode: true },
    { label: t.start, value: start },
  ];
}
