import type { JobRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { CopyButton } from '../../shared/copy-button';
import { texts } from '../../shared/texts';
import styles from './run-screen.module.css';

type Fact = [label: string, value: string | number | null | readonly string[], isCode?: boolean];

/** The configuration that a run was submitted with. */
export function RunConfiguration({ run }: { run: JobRead }): ReactNode {
  return (
    <>
      <h2 className={styles['heading']}>{texts.run.configuration.title}</h2>
      <div className={styles['frame']}>
        <dl className={styles['facts']}>
          {factsOf(run).map(([label, value, isCode]) => (
            <FactLine key={label} label={label} value={value} isCode={isCode ?? false} />
          ))}
        </dl>
      </div>
    </>
  );
}

function FactLine({ label, value, isCode }: { label: string; value: Fact[1]; isCode: boolean }): ReactNode {
  const values = [value ?? []].flat();
  return (
    <>
      <dt>{label}</dt>
      <dd className={isCode ? 'mono' : undefined}>
        {values.length === 0 && <span className={styles['unset']}>{texts.run.configuration.notSet}</span>}
        {values.map((one) => (
          <div key={one}>
            {one} {isCode && values.length === 1 && <CopyButton text={String(one)} />}
          </div>
        ))}
      </dd>
    </>
  );
}

function factsOf(run: JobRead): Fact[] {
  const { job_conf: conf } = run;
  const t = texts.run.configuration;
  const start = run.started_warm === null ? null : run.started_warm ? t.warm : `${t.cold}. ${run.cold_reason ?? ''}`;
  return [
    [t.id, String(run.job_id), true],
    [t.application, run.job_application_id, true],
    [t.language, conf.spark_job_type.language],
    [t.command, conf.command, true],
    [t.arguments, run.arguments ?? conf.arguments, true],
    [t.className, conf.class_name, true],
    [t.driverMemory, conf.driver_memory],
    [t.driverCores, conf.driver_cores],
    [t.executorMemory, conf.executor_memory],
    [t.executorCores, conf.executor_cores],
    [t.executors, conf.num_executors],
    [t.properties, run.conf ?? conf.conf, true],
    [t.packages, conf.packages, true],
    [t.jars, conf.jars, true],
    [t.files, conf.files, true],
    [t.start, start],
  ];
}
