import type { ReactNode } from 'react';
import { costTexts } from '../../shared/cost-texts';
import { percentText } from './cost-format';
import styles from './costs-screen.module.css';

interface ShareBarProps {
  runs: number;
  idle: number;
  /** The largest value of a row, which has the longest bar. */
  largest: number;
  /** The sum of which the share is a part. */
  total: number;
}

/** A share of the total as a number, and beside it as a bar: filled for runs, striped for what was idle. */
export function ShareBar({ runs, idle, largest, total }: ShareBarProps): ReactNode {
  const width = (value: number) => `${largest > 0 ? (value / largest) * 100 : 0}%`;
  return (
    <div className={styles['share']}>
      <span className={styles['percent']}>{costTexts.percent(percentText(runs + idle, total))}</span>
      <span className={styles['bar']} aria-hidden="true">
        <span className={styles['held']} style={{ width: width(runs) }} />
        <span className={styles['idle']} style={{ width: width(idle) }} />
      </span>
    </div>
  );
}
