import { Button, SegmentedControl } from '@mantine/core';
import { useInfiniteQuery, useIsFetching, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { listCosts } from 'managed-spark/operations';
import type { CostReport } from 'managed-spark/types';
import { type ReactNode, useMemo } from 'react';
import { CopyAs } from '../../shared/copy-as';
import { costTexts } from '../../shared/cost-texts';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { saveFile } from '../../shared/save-file';
import { RelativeTime, useNow } from '../../shared/time';
import { useMore } from '../../shared/use-more';
import { measureOf } from './cost-format';
import { commandOf, type CostsQuery, costsQueryOf, daysQuery, linesQuery, readCsv } from './costs-api';
import { CostsChart } from './costs-chart';
import { CostsFilters } from './costs-filters';
import {
  type CostsSearch,
  intervalsOf,
  type Part,
  PARTS,
  type Period,
  periodOf,
  readCostsSearch,
} from './costs-search';
import { CostsSummary, PricingNote } from './costs-summary';
import { CostsTable } from './costs-table';
import { IntervalsDrawer } from './intervals-drawer';
import { RunCostDrawer } from './run-cost-drawer';
import styles from './costs-screen.module.css';

const t = costTexts;

/** Shows what runs and nodes cost in a period, by day, workspace, cluster, user and run. */
export function CostsScreen(): ReactNode {
  const search = useSearch({ from: '/costs' });
  const navigate = useNavigate({ from: '/costs' });
  const queries = useQueryClient();
  const now = useNow(10_000);
  const today = new Date(now).toISOString().slice(0, 10);
  const { by = 'day' } = search;
  const period = useMemo(() => periodOf(search, new Date(today)), [search, today]);
  const query = costsQueryOf(search, period, by);
  const lines = useInfiniteQuery(linesQuery(query));
  const days = useQuery(daysQuery(costsQueryOf(search, period, 'day')));
  const isReading = useIsFetching({ queryKey: ['costs'] }) > 0;
  const change = (part: Partial<CostsSearch>) =>
    void navigate({ search: (before) => readCostsSearch({ ...before, ...part }), replace: true });
  const more = useMore(lines);
  const pages = lines.data?.pages ?? [];
  const [first] = pages;
  const isFiltered = search.workspace !== undefined || search.user !== undefined;
  const error = lines.error ?? days.error;
  return (
    <Page
      title={t.title}
      subtitle={
        first && (
          <>
            {t.asOf} <RelativeTime at={first.as_of} now={now} />
          </>
        )
      }
      actions={
        <>
          <CopyAs call={{ operation: listCosts, query }} command={commandOf(query)} />
          <Button
            variant="default"
            leftSection={<Icon name="again" size={14} />}
            loading={isReading}
            onClick={() => void queries.invalidateQueries({ queryKey: ['costs'] })}
          >
            {t.refresh}
          </Button>
        </>
      }
      fill
    >
      <CostsFilters search={search} period={period} change={change} />
      {error && <ProblemPanel error={error} onRetry={() => void queries.invalidateQueries({ queryKey: ['costs'] })} />}
      {first && !error && (
        <>
          <PricingNote cost={first.total.nodes ?? first.total.runs} from={period.from} />
          {first.data.length === 0 ? (
            <NoCosts isFiltered={isFiltered || search.cluster !== undefined} />
          ) : (
            <>
              <Sums report={first} isFiltered={isFiltered} days={days.data} period={period} />
              <Division by={by} period={period} query={query} onChange={(chosen) => change({ by: chosen })} />
              <CostsTable by={by} pages={pages} onEnd={more} />
            </>
          )}
        </>
      )}
      <Drawers search={search} period={period} />
    </Page>
  );
}

/** The drawer that the address names: the cost of a run, or the intervals of a sum. */
function Drawers({ search, period }: { search: CostsSearch; period: Period }): ReactNode {
  const navigate = useNavigate({ from: '/costs' });
  const close = (part: Partial<CostsSearch>) => void navigate({ search: (before) => ({ ...before, ...part }) });
  const { run, in: workspace } = search;
  if (run !== undefined && workspace !== undefined) {
    const onClose = () => close({ run: undefined, in: undefined });
    return <RunCostDrawer workspaceId={workspace} runId={run} onClose={onClose} />;
  }
  const intervals = intervalsOf(search, period);
  return intervals && <IntervalsDrawer of={intervals} onClose={() => close({ intervals: undefined, of: undefined })} />;
}

interface SumsProps {
  report: CostReport;
  /** The report by day, once it is there. */
  days: CostReport | undefined;
  period: Period;
  isFiltered: boolean;
}

/** The sums of the period, and how they are spread over its days. */
function Sums({ report: { total }, days, period, isFiltered }: SumsProps): ReactNode {
  const measure = useMemo(() => measureOf(total.nodes ?? total.runs), [total]);
  return (
    <>
      <CostsSummary total={total} measure={measure} isFiltered={isFiltered} />
      {days && <CostsChart report={days} period={period} measure={measure} />}
    </>
  );
}

interface DivisionProps {
  by: Part;
  period: Period;
  query: CostsQuery;
  onChange: (by: Part | undefined) => void;
}

/** Chooses by what the table divides the costs, and saves its lines. */
function Division({ by, period, query, onChange }: DivisionProps): ReactNode {
  const saving = useMutation({
    mutationFn: async () => saveFile(await readCsv(query, by), t.csv.file(by, period.from, period.to)),
  });
  return (
    <>
      <div className={styles['division']}>
        <span id="costs-by">{t.by.label}</span>
        <SegmentedControl
          size="xs"
          aria-labelledby="costs-by"
          data={PARTS.map((value) => ({ value, label: t.by.names[value] }))}
          value={by}
          onChange={(value) => onChange(PARTS.find((one) => one === value))}
        />
        <Button
          className={styles['save']}
          variant="default"
          leftSection={<Icon name="download" size={14} />}
          loading={saving.isPending}
          onClick={() => saving.mutate()}
        >
          {t.csv.save}
        </Button>
      </div>
      {saving.error && <ProblemPanel error={saving.error} onRetry={() => saving.mutate()} />}
    </>
  );
}

function NoCosts({ isFiltered }: { isFiltered: boolean }): ReactNode {
  if (isFiltered) return <EmptyState icon="search" title={t.filteredTitle} hint={t.filteredHint} />;
  return (
    <EmptyState icon="cost" title={t.emptyTitle} hint={t.emptyHint}>
      <Link to="/clusters">{t.emptyStep}</Link>
    </EmptyState>
  );
}
