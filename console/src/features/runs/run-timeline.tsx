import { useQuery } from '@tanstack/react-query';
import type { JobRead, JobStatusEntry } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { stateLook, type StateTone } from '../../shared/state-badge';
import { texts } from '../../shared/texts';
import { dateOf, durationText, exactTime } from '../../shared/time';
import { historyQuery, type RunKey } from './run-api';
import { isActive } from './runs-search';
import styles from './run-screen.module.css';

interface Band {
  label: string;
  tone: StateTone;
  ms: number;
  from: Date;
  reason: string | null;
}

/** The states of a run on one axis, each as long as it lasted. */
export function RunTimeline({ run, runKey, now }: { run: JobRead; runKey: RunKey; now: number }): ReactNode {
  const { data: history } = useQuery(historyQuery(runKey, run.job_status));
  if (!history) return <div className={styles['bands']} />;
  const bands = bandsOf(history.status_history, now);
  const [first, last] = [bands[0], bands.at(-1)];
  if (!first || !last) return null;
  const end = new Date(last.from.getTime() + last.ms);
  const total = bands.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <section className={styles['timeline']} aria-label={texts.run.timeline}>
      <ul className={styles['bands']}>
        {bands.map(({ label, tone, ms, from, reason }) => (
          <li
            key={from.getTime()}
            className={styles['band']}
            data-tone={tone}
            style={{ flex: `${Math.max(ms, 1)} 1 0` }}
            title={[`${label}: ${durationText(ms)}`, exactTime(from), reason].filter(Boolean).join('\n')}
          >
            <span className={styles['bandText']}>
              {label} · {durationText(ms)}
            </span>
          </li>
        ))}
      </ul>
      <div className={styles['ends']}>
        <time dateTime={first.from.toISOString()}>{exactTime(first.from)}</time>
        <span>{durationText(total)}</span>
        <time dateTime={end.toISOString()}>{isActive(run.job_status) ? texts.time.now : exactTime(end)}</time>
      </div>
    </section>
  );
}

/** Only states that last: the last one of a run that has ended is no time that it took. */
function bandsOf(entries: readonly JobStatusEntry[], now: number): Band[] {
  return entries
    .filter(({ job_status: status }) => isActive(status))
    .flatMap(({ job_status: status, from_date, to_date, reason }) => {
      const from = dateOf(from_date);
      if (!from) return [];
      const { label, tone } = stateLook(status);
      const end = dateOf(to_date)?.getTime() ?? now;
      return [{ label, tone, from, reason, ms: Math.max(0, end - from.getTime()) }];
    });
}
