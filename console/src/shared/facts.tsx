import type { ReactNode } from 'react';
import { CopyButton } from './copy-button';
import styles from './facts.module.css';
import { texts } from './texts';

export interface Fact {
  label: string;
  /** Several values stand below each other; without any, the fact is shown as not set. */
  value: ReactNode | readonly (string | number)[];
  /** True for what is copied into programs. */
  isCode?: boolean;
}

/** Facts about a thing, a line for each. */
export function Facts({ facts }: { facts: readonly Fact[] }): ReactNode {
  return (
    <div className={styles['frame']}>
      <dl className={styles['facts']}>
        {facts.map(({ label, value, isCode }) => (
          <FactLine key={label} label={label} value={value} isCode={isCode ?? false} />
        ))}
      </dl>
    </div>
  );
}

function FactLine({ label, value, isCode = false }: Fact): ReactNode {
  const isUnset = value === null || value === undefined || (Array.isArray(value) && value.length === 0);
  const lines = Array.isArray(value) ? (value as readonly (string | number)[]) : null;
  return (
    <>
      <dt>{label}</dt>
      <dd className={isCode ? 'mono' : undefined}>
        {isUnset && <span className={styles['unset']}>{texts.facts.notSet}</span>}
        {lines ? lines.map((one) => <div key={one}>{one}</div>) : value}
        {isCode && typeof value === 'string' && <CopyButton text={value} />}
      </dd>
    </>
  );
}
