import type { ClusterCheck, ClusterCost, ClusterFault } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { clusterTexts as t } from '../../shared/cluster-texts';
import { number } from '../../shared/texts';
import { FIELDS, type FieldPath } from './cluster-fields';
import styles from './cluster-form.module.css';

interface ClusterSummaryProps {
  check: ClusterCheck | undefined;
  faults: readonly ClusterFault[];
  /** Fields of faults that are only missing values. */
  missing: ReadonlySet<string>;
  hasChanges: boolean;
}

/** Shows what the cluster costs, and what is missing or does not fit, with the way to each field. */
export function ClusterSummary({ check, faults, missing, hasChanges }: ClusterSummaryProps): ReactNode {
  const needed = faults.filter(({ field }) => field !== null && missing.has(field));
  const others = faults.filter((fault) => !needed.includes(fault));
  return (
    <aside className={styles['summary']} aria-label={t.summary}>
      <section>
        <h2 className={styles['heading']}>{t.cost.title}</h2>
        {check?.cost ? <Cost cost={check.cost} /> : <p className={styles['note']}>{t.cost.notYet}</p>}
      </section>
      {needed.length > 0 && (
        <section>
          <h2 className={styles['heading']}>{t.missing}</h2>
          <ul className={styles['list']}>
            {needed.map(({ field }) => (
              <li key={field}>
                <FieldLink path={field ?? ''} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {others.length > 0 && (
        <section>
          <h2 className={styles['heading']}>{t.misfits}</h2>
          <ul className={styles['list']}>
            {others.map(({ field, message }) => (
              <li key={`${field} ${message}`}>
                {field !== null && <FieldLink path={field} />}
                <p className={styles['fault']}>{message}</p>
              </li>
            ))}
          </ul>
        </section>
      )}
      {check?.is_accepted === true && <p className={styles['note']}>{hasChanges ? t.complete : t.nothingChanged}</p>}
    </aside>
  );
}

/** Leads to the field. */
function FieldLink({ path }: { path: string }): ReactNode {
  const known = FIELDS.find((field) => path === field.path || path.startsWith(`${field.path}.`))?.path;
  if (!known) return <span>{path}</span>;
  return (
    <button type="button" className={styles['link']} onClick={() => focusField(known)}>
      {t.fields[known][0]}
    </button>
  );
}

export function focusField(path: FieldPath): void {
  const element = document.getElementById(`cluster-${path}`);
  element?.scrollIntoView({ block: 'center' });
  element?.focus({ preventScroll: true });
}

/** Returns the amounts of the minimum and the maximum of nodes, or compute units if those have no price. */
export function amountText(cost: ClusterCost): string {
  const { min_amount: least, max_amount: most, currency } = cost;
  if (least === null || most === null || currency === null) return t.cost.units(unitsRange(cost));
  return t.cost.range(money(least, currency), money(most, currency));
}

function unitsRange({ min_ycu: least, max_ycu: most }: ClusterCost): string {
  return t.cost.range(unitsText(least), unitsText(most));
}

function Cost({ cost }: { cost: ClusterCost }): ReactNode {
  const { min_amount: least, max_amount: most, currency, unit_price: price } = cost;
  const units = unitsRange(cost);
  const isKnown = least !== null && most !== null && currency !== null;
  return (
    <>
      <p className={styles['amount']}>
        {amountText(cost)}
        <span className={styles['per']}> {t.cost.perHour}</span>
      </p>
      <p className={styles['note']}>
        {t.cost.nodes(cost.min_nodes, cost.max_nodes)}
        {isKnown && ` · ${t.cost.units(units)}`}
        {isKnown && price !== null && ` ${t.cost.unitPrice(money(Number(price), currency))}`}
      </p>
      <p className={styles['note']}>{isKnown ? t.cost.free : t.cost.unknown}</p>
    </>
  );
}

function unitsText(units: number): string {
  return number(Math.round(units * 100) / 100);
}

/** Small amounts keep two digits that count. */
function money(amount: number, currency: string): string {
  const digits = amount > 0 && amount < 1 ? { maximumSignificantDigits: 3 } : {};
  return new Intl.NumberFormat('en-US', { style: 'currency', currency, ...digits }).format(amount);
}
