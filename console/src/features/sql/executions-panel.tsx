import { type ReactNode, useEffect, useState } from 'react';
import { Icon, type IconName } from '../../shared/icons';
import type { ExecutionState } from '../../shared/sql/execution-state';
import { StatementResult } from '../../shared/sql/statement-result';
import type { Execution, SqlRunner } from '../../shared/sql/sql-runner';
import { sqlTexts as t } from '../../shared/sql-texts';
import { durationText, useNow } from '../../shared/time';
import styles from './executions-panel.module.css';

const ICONS: Readonly<Record<ExecutionState, IconName>> = {
  waiting: 'waiting',
  starting: 'waiting',
  running: 'active',
  done: 'done',
  failed: 'failed',
  cancelled: 'killed',
  skipped: 'lost',
};

interface ExecutionsPanelProps {
  runner: SqlRunner;
  executions: readonly Execution[];
  version: number;
}

/** The statements that were run together, and the result of one of them. */
export function ExecutionsPanel({ runner, executions, version }: ExecutionsPanelProps): ReactNode {
  const now = useNow(500);
  const [chosen, setChosen] = useState<number | null>(null);
  // The latest that has begun is shown, until somebody chooses another.
  const latest = executions.findLastIndex(({ state }) => !['waiting', 'skipped'].includes(state));
  const index = chosen !== null && chosen < executions.length ? chosen : Math.max(0, latest);
  const execution = executions[index];
  const count = executions.length;
  useEffect(() => setChosen(null), [count]);
  return (
    <section className={styles['panel']} aria-label={t.statements}>
      {count > 1 && (
        <div className={styles['list']} role="group" aria-label={t.statements}>
          {executions.map((one, position) => (
            <button
              key={one.from}
              type="button"
              className={styles['one']}
              aria-pressed={position === index}
              title={one.text.slice(0, 500)}
              onClick={() => setChosen(position)}
            >
              <State execution={one} now={now} />
              <span className={styles['text']}>{one.text.slice(0, 80)}</span>
            </button>
          ))}
        </div>
      )}
      {count === 1 && execution && execution.state !== 'done' && (
        <div className={styles['alone']} role="status">
          <State execution={execution} now={now} />
        </div>
      )}
      {execution && isEnded(execution) && (
        <StatementResult
          key={`${execution.from} ${execution.startedAt}`}
          runner={runner}
          execution={execution}
          version={version}
          fileName={`query-${index + 1}`}
        />
      )}
    </section>
  );
}

function isEnded({ state, result }: Execution): boolean {
  return result !== null || ['done', 'failed'].includes(state);
}

function State({ execution, now }: { execution: Execution; now: number }): ReactNode {
  const { state, startedAt, tookMs } = execution;
  const ms = tookMs ?? (state === 'running' && startedAt !== null ? now - startedAt : null);
  return (
    <span className={styles['state']} data-state={state}>
      <Icon name={ICONS[state]} className={state === 'running' ? styles['turning'] : undefined} />
      {t.states[state]}
      {ms !== null && <span className={styles['time']}>{durationText(ms)}</span>}
    </span>
  );
}
