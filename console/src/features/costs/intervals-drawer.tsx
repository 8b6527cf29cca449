import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { listCostIntervals } from 'managed-spark/operations';
import type { CostInterval, CostIntervals } from 'managed-spark/types';
import { type ReactNode, useMemo } from 'react';
import { commonTexts } from '../../shared/common-texts';
import { CopyAs } from '../../shared/copy-as';
import { costTexts } from '../../shared/cost-texts';
import { DetailDrawer } from '../../shared/detail-drawer';
import { EmptyState } from '../../shared/empty-state';
import { type Fact, Facts } from '../../shared/facts';
import { number } from '../../shared/texts';
import { durationText } from '../../shared/time';
import { useMore } from '../../shared/use-more';
import table from '../../shared/plain-table.module.css';
import { hoursOf, type Measure, measureOf, unitsOf, utcText } from './cost-format';
import { intervalsQuery, intervalsQueryOf } from './costs-api';
import type { IntervalsOf } from './costs-search';
import styles from './costs-screen.module.css';

const t = costTexts.intervals;

const DRAWER_WIDTH = 1_080;

interface IntervalsDrawerProps {
  of: IntervalsOf;
  onClose: () => void;
}

/** Shows the intervals of the ledger that a sum of the costs of nodes consists of. */
export function IntervalsDrawer({ of, onClose }: IntervalsDrawerProps): ReactNode {
  const query = intervalsQueryOf(of);
  const found = useInfiniteQuery(intervalsQuery(query));
  const more = useMore(found);
  const pages = found.data?.pages;
  const intervals = useMemo(() => (pages ?? []).flatMap(({ data }) => data), [pages]);
  const first = pages?.[0];
  return (
    <DetailDrawer
      title={t.title(of.from, of.to)}
      width={DRAWER_WIDTH}
      error={found.error}
      onRetry={found.refetch}
      onClose={onClose}
    >
      {first && (
        <div className={styles['drawer']}>
          <Facts facts={factsOf(first)} />
          <div className={styles['ways']}>
            <CopyAs call={{ operation: listCostIntervals, query }} />
          </div>
          <p className={styles['note']}>{t.rule}</p>
          {intervals.length === 0 ? (
            <EmptyState icon="cost" title={t.empty} hint={t.emptyHint} />
          ) : (
            <Intervals intervals={intervals} list={first} isWhole={!found.hasNextPage} />
          )}
          {found.hasNextPage && (
            <Button variant="default" loading={found.isFetchingNextPage} onClick={more}>
              {t.more(number(intervals.length))}
            </Button>
          )}
        </div>
      )}
    </DetailDrawer>
  );
}

function factsOf({ total, as_of: asOf }: CostIntervals): Fact[] {
  return [
    ...(total.amount === null ? [] : [{ label: t.cost, value: measureOf(total).text(total) }]),
    { label: t.units, value: unitsOf(total)(total) },
    { label: t.time, value: `${costTexts.hours(hoursOf(total)(total))} (${number(total.node_ms)} ms)` },
    { label: t.asOf, value: utcText(asOf) },
  ];
}

interface IntervalsProps {
  intervals: readonly CostInterval[];
  list: CostIntervals;
  /** True if no interval is left to be read. */
  isWhole: boolean;
}

function Intervals({ intervals, list: { total }, isWhole }: IntervalsProps): ReactNode {
  const measure = useMemo(() => measureOf(total), [total]);
  const units = useMemo(() => unitsOf(total), [total]);
  return (
    <div className={table['frame']} tabIndex={0} role="region" aria-label={t.list}>
      <table className={table['table']}>
        <thead>
          <tr>
            <th scope="col">{t.cluster}</th>
            <th scope="col">{t.node}</th>
            <th scope="col">{t.from}</th>
            <th scope="col">{t.until}</th>
            {[t.duration, t.units, t.price, t.amount].map((header) => (
              <th key={header} scope="col" className={table['number']}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {intervals.map((interval) => (
            <Interval
              key={`${interval.node_state_id} ${interval.from_date}`}
              interval={interval}
              measure={measure}
              units={units}
            />
          ))}
        </tbody>
        {isWhole && (
          <tfoot>
            <tr>
              <th scope="row" colSpan={4}>
                {t.sum}
              </th>
              <td className={table['number']}>{durationText(total.node_ms)}</td>
              <td className={table['number']}>{units(total)}</td>
              <td />
              <td className={table['number']}>
                <strong>{amountText(total, measure)}</strong>
              </td>
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

interface IntervalProps {
  interval: CostInterval;
  measure: Measure;
  units: (cost: CostInterval['cost']) => string;
}

function Interval({ interval, measure, units }: IntervalProps): ReactNode {
  const { cluster_id: clusterId, cluster_name: cluster, node_id: node, machine_type: machine, cost } = interval;
  return (
    <tr>
      <td>
        <Link to="/clusters/$clusterId" params={{ clusterId }} search={{ tab: 'history' }}>
          {cluster}
        </Link>
      </td>
      <td>
        #{node} · {machine}
        {interval.is_spot && ` · ${costTexts.run.spot}`}
      </td>
      <td className="numbers">{utcText(interval.from_date)}</td>
      <td className="numbers">
        {utcText(interval.to_date)}
        {interval.running_until === null && ` · ${t.running}`}
      </td>
      <td className={table['number']} title={`${number(cost.node_ms)} ms`}>
        {durationText(cost.node_ms)}
      </td>
      <td className={table['number']}>{units(cost)}</td>
      <td className={table['number']}>{priceText(interval)}</td>
      <td className={table['number']}>{amountText(cost, measure)}</td>
    </tr>
  );
}

function amountText(cost: CostInterval['cost'], measure: Measure): string {
  if (cost.amount === null) return commonTexts.none;
  return (measure.currency === null ? measureOf(cost) : measure).text(cost);
}

function priceText({ unit_price: price, cost }: CostInterval): string {
  if (price !== null) return String(price);
  return cost.pricing === 'NO_PRICE' ? commonTexts.none : t.several;
}
