import { useQuery } from '@tanstack/react-query';
import type { JobRead, RunPhase } from 'managed-spark/types';
import type { ReactNode } from 'react';
import type { StateTone } from '../../shared/state-badge';
import { texts } from '../../shared/texts';
import { dateOf, durationText, exactTime } from '../../shared/time';
import { type RunKey, timelineQuery } from './run-api';
import styles from './run-screen.module.css';

const TONES: Readonly<Record<RunPhase['phase'], StateTone>> = {
  WAITING_FOR_CLUSTER: 'waiting',
  WAITING_FOR_SLOT: 'waiting',
  STARTING: 'done',
  RUNNING: 'active',
  STOPPING: 'ending',
};

/** The phases of a run on one axis, each as long as it lasted. */
export function RunTimeline({ run, runKey, now }: { run: JobRead; runKey: RunKey; now: number }): ReactNode {
  const { data: timeline } = useQuery(timelineQuery(runKey, run.job_status));
  if (!timeline) return <div className={styles['bands']} />;
  const bands = timeline.phases.map(({ phase, from_date, to_date }) => {
    const from = dateOf(from_date) ?? new Date(now);
    return { phase, from, ms: Math.max(0, (dateOf(to_date)?.getTime() ?? now) - from.getTime()) };
  });
  const total = bands.reduce((sum, { ms }) => sum + ms, 0);
  const [begin, end] = [dateOf(timeline.submit_date), dateOf(timeline.end_date)];
  return (
    <section className={styles['timeline']} aria-label={texts.run.timeline}>
      <ul className={styles['bands']}>
        {bands.map(({ phase, from, ms }) => (
          <li
            key={`${phase} ${from.getTime()}`}
            className={styles['band']}
            data-tone={TONES[phase]}
            style={{ flex: `${Math.max(ms, 1)} 1 0` }}
            title={`${texts.run.phases[phase]}: ${durationText(ms)}\n${exactTime(from)}`}
          >
            <span className={styles['bandText']}>
              {texts.run.phases[phase]} · {durationText(ms)}
            </span>
          </li>
        ))}
      </ul>
      <div className={styles['ends']}>
        {begin && <time dateTime={begin.toISOString()}>{exactTime(begin)}</time>}
        <span>{durationText(total)}</span>
        {end ? <time dateTime={end.toISOString()}>{exactTime(end)}</time> : <span>{texts.time.now}</span>}
      </div>
    </section>
  );
}
