import { Button } from '@mantine/core';
import { ApiError, Forbidden } from 'managed-spark/core';
import { lazy, type ReactNode, Suspense } from 'react';
import { CopyButton } from './copy-button';
import { Icon } from './icons';
import styles from './problem-panel.module.css';
import { texts } from './texts';

/** Loaded when somebody is refused, because most never see it. */
const Refusal = lazy(async () => ({ default: (await import('./refusal')).Refusal }));

interface ProblemPanelProps {
  error: unknown;
  title?: string;
  onRetry?: () => void;
}

/** An error with its code, what to do, and the id by which an administrator finds the request. */
export function ProblemPanel({ error, title = texts.problem.title, onRetry }: ProblemPanelProps): ReactNode {
  const problem = error instanceof ApiError ? error : null;
  const message = problem?.reason ?? (error instanceof Error ? error.message : String(error));
  return (
    <section className={styles['panel']} role="alert">
      <Icon name="failed" size={20} className={styles['icon']} />
      <div className={styles['body']}>
        <h2 className={styles['title']}>{title}</h2>
        <p>{message}</p>
        {problem && (
          <dl className={styles['facts']}>
            <dt>{texts.problem.code}</dt>
            <dd className="mono">{problem.code}</dd>
            {problem.correlationId !== '' && (
              <>
                <dt>{texts.problem.correlation}</dt>
                <dd className="mono">
                  {problem.correlationId} <CopyButton text={problem.correlationId} />
                </dd>
              </>
            )}
          </dl>
        )}
        {problem instanceof Forbidden && (
          <Suspense fallback={null}>
            <Refusal error={problem} />
          </Suspense>
        )}
        {onRetry && (
          <Button variant="default" onClick={onRetry}>
            {texts.problem.retry}
          </Button>
        )}
      </div>
    </section>
  );
}
