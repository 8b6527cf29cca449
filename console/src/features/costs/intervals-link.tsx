import { Link } from '@tanstack/react-router';
import type { Cost } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { costTexts } from '../../shared/cost-texts';
import { number } from '../../shared/texts';
import { type CostsSearch, readCostsSearch } from './costs-search';
import styles from './costs-screen.module.css';

interface IntervalsLinkProps {
  /** Name of the day, cluster or period of the sum. */
  name: string;
  cost: Cost;
  text: string;
  search: CostsSearch;
}

/** A sum of the time of nodes, which leads to the intervals of the ledger that it consists of. */
export function IntervalsLink({ name, cost, text, search }: IntervalsLinkProps): ReactNode {
  return (
    <Link
      to="/costs"
      search={(before) => readCostsSearch({ ...before, ...search })}
      className={styles['figure']}
      aria-label={costTexts.intervals.link(text, name)}
      title={`${number(cost.node_ms)} ms`}
    >
      {text}
    </Link>
  );
}
