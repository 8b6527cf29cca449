import type { Cost, CostTotal, UnusedMemory } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { CopyButton } from '../../shared/copy-button';
import { costTexts } from '../../shared/cost-texts';
import { Icon } from '../../shared/icons';
import { intervalsSearch } from './costs-search';
import { IntervalsLink } from './intervals-link';
import { gibHoursText, hoursOf, type Measure, percentText, unitsOf, unusedText, unusedValue } from './cost-format';
import styles from './costs-screen.module.css';

const t = costTexts.total;

interface CostsSummaryProps {
  total: CostTotal;
  measure: Measure;
  /** True if a filter leaves out idle time. */
  isFiltered: boolean;
}

/** The sums of the period: what runs cost and what was idle are what all nodes cost. Unused memory is part of what runs cost. */
export function CostsSummary({ total, measure, isFiltered }: CostsSummaryProps): ReactNode {
  const { runs, idle, nodes, unused_memory: memory } = total;
  const unused = memory && <Unused unused={memory} runs={runs} measure={measure} />;
  if (!idle || !nodes) {
    return (
      <section className={styles['totals']} aria-label={t.label}>
        <Total name={t.runs} hint={t.runsHint} cost={runs} measure={measure} of={runs} sign="held" />
        {unused}
        <p className={styles['note']}>{isFiltered ? t.filtered : t.notYours}</p>
      </section>
    );
  }
  const whole = measure.valueOf(nodes);
  const share = (cost: Cost) => costTexts.percent(percentText(measure.valueOf(cost), whole));
  return (
    <section className={styles['totals']} aria-label={t.label}>
      <Total name={t.nodes} hint={t.nodesHint} cost={nodes} measure={measure} of={nodes} isLink />
      <Total name={t.runs} hint={t.runsHint} cost={runs} measure={measure} of={nodes} sign="held" share={share(runs)} />
      <Total name={t.idle} hint={t.idleHint} cost={idle} measure={measure} of={nodes} sign="idle" share={share(idle)} />
      {unused}
    </section>
  );
}

interface TotalProps {
  name: string;
  hint: string;
  cost: Cost;
  measure: Measure;
  /** The largest of the sums. */
  of: Cost;
  /** The filling by which charts and bars show it. */
  sign?: 'held' | 'idle';
  share?: string;
  /** True if the sum leads to its intervals of the ledger. */
  isLink?: boolean;
}

function Total({ name, hint, cost, measure, of, sign, share, isLink = false }: TotalProps): ReactNode {
  const units = costTexts.units(unitsOf(of)(cost));
  const text = measure.currency === null ? units : measure.text(cost);
  return (
    <div className={styles['total']}>
      <h2 className={styles['title']}>
        {sign && <span className={`${styles['swatch']} ${styles[sign]}`} aria-hidden="true" />}
        {name}
        <span className={styles['hint']}>{hint}</span>
      </h2>
      <p className={styles['value']}>
        {isLink ? <IntervalsLink name={t.label} cost={cost} text={text} search={intervalsSearch({})} /> : text}
        {share !== undefined && <span className={styles['part']}>{share}</span>}
      </p>
      <p className={styles['hint']}>
        {costTexts.hours(hoursOf(of)(cost))}
        {measure.currency !== null && ` · ${units}`}
      </p>
    </div>
  );
}

interface UnusedProps {
  unused: UnusedMemory;
  runs: Cost;
  measure: Measure;
}

/** The memory that runs requested and did not use, with its price, the rule behind it, and how much of the runs was measured. */
function Unused({ unused, runs, measure }: UnusedProps): ReactNode {
  const ofRuns = costTexts.percent(percentText(unusedValue(unused, measure), measure.valueOf(runs)));
  const measured = costTexts.percent(percentText(unused.measured_ms, runs.node_ms));
  return (
    <>
      <div className={styles['total']}>
        <h2 className={styles['title']}>
          {t.unused}
          <span className={styles['hint']}>{t.unusedHint}</span>
        </h2>
        <p className={styles['value']}>
          {unusedText(unused, measure)}
          <span className={styles['part']}>{t.ofRuns(ofRuns)}</span>
        </p>
        <p className={styles['hint']}>
          {gibHoursText(unused)} · {t.measured(measured)}
        </p>
      </div>
      <p className={styles['rule']}>{costTexts.unusedRule}</p>
    </>
  );
}

/** Says why there is no amount, and what to do. */
export function PricingNote({ cost, from }: { cost: Cost; from: string }): ReactNode {
  if (cost.pricing === 'PRICED') return null;
  const [title, hint] = costTexts.pricing[cost.pricing];
  const example = costTexts.priceExample(from);
  return (
    <section className={styles['pricing']}>
      <Icon name="info" size={18} />
      <div>
        <h2 className={styles['title']}>{title}</h2>
        <p className={styles['note']}>{hint}</p>
        {cost.pricing !== 'SEVERAL_CURRENCIES' && (
          <p className={styles['note']}>
            <code className="mono">{example}</code> <CopyButton text={example} />
          </p>
        )}
      </div>
    </section>
  );
}
