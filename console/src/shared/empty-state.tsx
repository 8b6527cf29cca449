import type { ReactNode } from 'react';
import { CopyButton } from './copy-button';
import styles from './empty-state.module.css';
import { Icon, type IconName } from './icons';

interface EmptyStateProps {
  icon: IconName;
  title: string;
  hint: string;
  /** The first step as a program, which can be copied. */
  example?: string;
  children?: ReactNode;
}

/** Stands where there is nothing yet, and says the first step. */
export function EmptyState({ icon, title, hint, example, children }: EmptyStateProps): ReactNode {
  return (
    <div className={styles['empty']}>
      <span className={styles['icon']}>
        <Icon name={icon} size={22} />
      </span>
      <h2 className={styles['title']}>{title}</h2>
      <p className={styles['hint']}>{hint}</p>
      {example !== undefined && (
        <div className={styles['example']}>
          <pre>{example}</pre>
          <CopyButton text={example} />
        </div>
      )}
      {children}
    </div>
  );
}
