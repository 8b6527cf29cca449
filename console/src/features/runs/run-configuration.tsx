import type { JobRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { type Fact, Facts } from '../../shared/facts';
import { texts } from '../../shared/texts';
import styles from './run-screen.module.css';

/** The configuration that a run was submitted with. */
export function RunConfiguration({ run }: { run: JobRead }): ReactNode {
  return (
    <>
      <h2 className={styles['heading']}>{texts.run.configuration.title}</h2>
      <Facts facts={factsOf(run)} />
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
