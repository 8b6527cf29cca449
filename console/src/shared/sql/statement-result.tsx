import { Button, SegmentedControl } from '@mantine/core';
import { type ReactNode, lazy, Suspense, useCallback, useState } from 'react';
import { Icon } from '../icons';
import { ProblemPanel } from '../problem-panel';
import { saveFile } from '../save-file';
import { sqlTexts as t } from '../sql-texts';
import { number } from '../texts';
import { durationText } from '../time';
import { ResultGrid } from './result-grid';
import type { ResultRows } from './result-rows';
import type { SqlProblem } from './sql-error';
import type { Execution, SqlRunner } from './sql-runner';
import styles from './statement-result.module.css';
import { tsvOf } from './values';

/** Loaded when somebody looks at a chart. */
const ResultChart = lazy(() => import('./result-chart').then(({ ResultChart: component }) => ({ default: component })));

interface StatementResultProps {
  runner: SqlRunner;
  execution: Execution;
  version: number;
  /** Name of a downloaded file, without its ending. */
  fileName: string;
}

/** Shows the rows of one statement, or why there are none. */
export function StatementResult({ runner, execution, version, fileName }: StatementResultProps): ReactNode {
  const { result, problem, error, state } = execution;
  const [view, setView] = useState<'table' | 'chart'>('table');
  const more = useCallback(() => void runner.loadMore(execution), [runner, execution]);
  if (error) return <ProblemPanel error={error} />;
  if (problem) return <SqlProblemPanel problem={problem} />;
  if (!result) return <p className={styles['note']}>{state === 'done' ? t.freed : t.states[state]}</p>;
  if (result.columns.length === 0) return <p className={styles['note']}>{t.noResult}</p>;
  return (
    <div className={styles['result']}>
      <div className={styles['bar']}>
        <SegmentedControl
          size="xs"
          aria-label={t.view}
          data={[
            { value: 'table', label: t.table },
            { value: 'chart', label: t.chart },
          ]}
          value={view}
          onChange={(value) => setView(value === 'chart' ? 'chart' : 'table')}
        />
        <span className={styles['count']}>
          {countText(result)}
          {execution.tookMs !== null && ` · ${durationText(execution.tookMs)}`}
        </span>
        <ResultActions result={result} fileName={fileName} />
      </div>
      {view === 'chart' ? (
        <Suspense fallback={null}>
          <ResultChart result={result} version={version} />
        </Suspense>
      ) : (
        <>
          {result.rows.length === 0 && <p className={styles['note']}>{t.empty}</p>}
          <ResultGrid
            label={t.result}
            columns={result.columns}
            rows={result.rows}
            version={version}
            isComplete={result.isComplete || result.isCut}
            onEnd={more}
          />
        </>
      )}
    </div>
  );
}

function countText(result: ResultRows): string {
  const count = number(result.rows.length);
  if (result.isComplete) return t.rows(count);
  return result.isCut ? t.rowsCut(count) : t.rowsSoFar(count);
}

function ResultActions({ result, fileName }: { result: ResultRows; fileName: string }): ReactNode {
  const [progress, setProgress] = useState<number | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    const names = result.columns.map(({ name }) => name);
    await navigator.clipboard.writeText(`${tsvOf([names, ...result.rows])}\n`);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1_500);
  };
  const download = async () => {
    setProgress(result.rows.length);
    setFailure(null);
    try {
      saveFile(await result.toCsv(setProgress), `${fileName}.csv`);
    } catch (error) {
      setFailure(error);
    } finally {
      setProgress(null);
    }
  };
  return (
    <>
      <Button
        variant="default"
        title={t.copyHint}
        leftSection={<Icon name={isCopied ? 'check' : 'copy'} size={14} />}
        onClick={() => void copy()}
      >
        {isCopied ? t.copied : t.copy}
      </Button>
      <Button
        variant="default"
        leftSection={<Icon name="download" size={14} />}
        disabled={progress !== null}
        onClick={() => void download()}
      >
        {progress === null ? t.download : t.downloading(number(progress))}
      </Button>
      {failure !== null && <ProblemPanel error={failure} />}
    </>
  );
}

/** Shows the message of a failed statement by its parts. */
function SqlProblemPanel({ problem }: { problem: SqlProblem }): ReactNode {
  const { condition, sqlState, message, whole, place } = problem;
  return (
    <section className={styles['problem']} role="alert">
      <Icon name="failed" size={20} />
      <div>
        <p className={styles['message']}>{message}</p>
        <dl className={styles['facts']}>
          {condition !== '' && (
            <>
              <dt>{t.condition}</dt>
              <dd className="mono">{condition}</dd>
            </>
          )}
          {sqlState !== '' && (
            <>
              <dt>{t.sqlState}</dt>
              <dd className="mono">{sqlState}</dd>
            </>
          )}
          {place && (
            <>
              <dt>{t.place}</dt>
              <dd>{t.line(place.line, place.column)}</dd>
            </>
          )}
        </dl>
        {whole !== '' && (
          <details>
            <summary>{t.whole}</summary>
            <pre className={styles['whole']}>{whole}</pre>
          </details>
        )}
      </div>
    </section>
  );
}
