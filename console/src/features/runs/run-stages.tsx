import { useQuery } from '@tanstack/react-query';
import type { JobMetrics, JobRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { EmptyState } from '../../shared/empty-state';
import table from '../../shared/plain-table.module.css';
import { ProblemPanel } from '../../shared/problem-panel';
import { bytes, number, texts } from '../../shared/texts';
import { durationText } from '../../shared/time';
import { metricsQuery, type RunKey } from './run-api';
import styles from './run-screen.module.css';
import { isActive } from './runs-search';

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
    <div className={table['frame']}>
      <table className={table['table']}>
        <thead>
          <tr>
            <th>{stage}</th>
            <th>{status}</th>
            {[tasks, duration, input, output, shuffle, spill].map((title) => (
              <th key={title} className={table['number']}>
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
                {one.attempt > 0 && `.${one.attempt}`} <span className={table['soft']}>{one.name}</span>
              </td>
              <td className={one.status === 'FAILED' || one.status === 'ABORTED' ? table['warn'] : undefined}>
                {one.status}
              </td>
              <td className={table['number']}>
                {number(one.tasks)} / {number(one.planned_tasks)}
                {one.failed_tasks > 0 && <span className={table['warn']}> ({number(one.failed_tasks)} failed)</span>}
              </td>
              <td className={table['number']}>{durationText(one.duration_ms)}</td>
              <td className={table['number']}>{bytes(one.input_bytes)}</td>
              <td className={table['number']}>{bytes(one.output_bytes)}</td>
              <td className={table['number']}>
                {bytes(one.shuffle_read_bytes)} / {bytes(one.shuffle_write_bytes)}
              </td>
              <td className={table['number']}>
                <span className={one.spilled_bytes > 0 ? table['warn'] : undefined}>{bytes(one.spilled_bytes)}</span>
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
    <div className={table['frame']}>
      <table className={table['table']}>
        <thead>
          <tr>
            <th>{executor}</th>
            <th>{host}</th>
            {[cores, tasks, gc, peak].map((title) => (
              <th key={title} className={table['number']}>
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
              <td className={table['number']}>{number(one.cores)}</td>
              <td className={table['number']}>{number(one.tasks)}</td>
              <td className={table['number']}>{durationText(one.gc_ms)}</td>
              <td className={table['number']}>{bytes(one.peak_memory_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
