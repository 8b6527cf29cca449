import { useQuery } from '@tanstack/react-query';
import type { JobMetrics, JobRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { EmptyState } from '../../shared/empty-state';
import { ProblemPanel } from '../../shared/problem-panel';
import { bytes, number, texts } from '../../shared/texts';
import { durationText } from '../../shared/time';
import { metricsQuery, type RunKey } from './run-api';
import { isActive } from './runs-search';
import styles from './run-screen.module.css';

/** The stages and executors of a run's Spark application. */
export function RunStages({ run, runKey }: { run: JobRead; runKey: RunKey }): ReactNode {
  const { data: metrics, error } = useQuery(metricsQuery(runKey, isActive(run.job_status)));
  if (error) return <ProblemPanel error={error} />;
  if (!metrics) return null;
  if (metrics.stages.length === 0)
    return <EmptyState icon="runs" title={texts.run.stages.none} hint={texts.run.stages.noneHint} />;
  return (
    <>
      <Stages stages={metrics.stages} />
      <h2 className={styles['heading']}>{texts.run.stages.executors}</h2>
      <Executors executors={metrics.executors} />
    </>
  );
}

function Stages({ stages }: Pick<JobMetrics, 'stages'>): ReactNode {
  const { stage, status, tasks, duration, input, output, shuffle, spill } = texts.run.stages;
  return (
    <div className={styles['frame']}>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th>{stage}</th>
            <th>{status}</th>
            {[tasks, duration, input, output, shuffle, spill].map((title) => (
              <th key={title} className={styles['number']}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {stages.map((one) => (
            <tr key={`${one.stage_id}.${one.attempt}`}>
              <td>
                {one.stage_id}
                {one.attempt > 0 && `.${one.attempt}`} <span className={styles['unset']}>{one.name}</span>
              </td>
              <td className={one.status === 'FAILED' || one.status === 'ABORTED' ? styles['warn'] : undefined}>
                {one.status}
              </td>
              <td className={styles['number']}>
                {number(one.tasks)} / {number(one.planned_tasks)}
                {one.failed_tasks > 0 && <span className={styles['warn']}> ({number(one.failed_tasks)} failed)</span>}
              </td>
              <td className={styles['number']}>{durationText(one.duration_ms)}</td>
              <td className={styles['number']}>{bytes(one.input_bytes)}</td>
              <td className={styles['number']}>{bytes(one.output_bytes)}</td>
              <td className={styles['number']}>
                {bytes(one.shuffle_read_bytes)} / {bytes(one.shuffle_write_bytes)}
              </td>
              <td className={styles['number']}>
                <span className={one.spilled_bytes > 0 ? styles['warn'] : undefined}>{bytes(one.spilled_bytes)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Executors({ executors }: Pick<JobMetrics, 'executors'>): ReactNode {
  const { executor, host, cores, tasks, gc, peak } = texts.run.stages;
  return (
    <div className={styles['frame']}>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th>{executor}</th>
            <th>{host}</th>
            {[cores, tasks, gc, peak].map((title) => (
              <th key={title} className={styles['number']}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {executors.map((one) => (
            <tr key={one.executor_id}>
              <td>{one.executor_id}</td>
              <td className="mono">{one.host}</td>
              <td className={styles['number']}>{number(one.cores)}</td>
              <td className={styles['number']}>{number(one.tasks)}</td>
              <td className={styles['number']}>{durationText(one.gc_ms)}</td>
              <td className={styles['number']}>{bytes(one.peak_memory_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
