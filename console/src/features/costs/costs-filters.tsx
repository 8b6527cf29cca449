import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { CostLine } from 'managed-spark/types';
import { type ReactNode, useState } from 'react';
import { ChoiceFilter } from '../../shared/choice-filter';
import { commonTexts } from '../../shared/common-texts';
import { costTexts } from '../../shared/cost-texts';
import list from '../../shared/list-screen.module.css';
import { dayParam } from '../../shared/search-params';
import { optionsQuery } from './costs-api';
import { type CostsSearch, PERIODS, type Period } from './costs-search';

const t = costTexts;

/** The records by which costs can be filtered. */
const FILTERS = ['workspace', 'cluster', 'user'] as const;
type Filter = (typeof FILTERS)[number];

interface CostsFiltersProps {
  search: CostsSearch;
  period: Period;
  change: (part: Partial<CostsSearch>) => void;
}

/** The period, and the records whose costs are shown. */
export function CostsFilters({ search, period, change }: CostsFiltersProps): ReactNode {
  const isFiltered = FILTERS.some((filter) => search[filter] !== undefined);
  return (
    <div className={list['filters']} role="search">
      <SegmentedControl
        size="xs"
        aria-label={t.period.label}
        data={PERIODS.map((value) => ({ value, label: t.period.names[value] }))}
        value={period.name ?? ''}
        onChange={(value) => change({ period: PERIODS.find((one) => one === value), from: undefined, to: undefined })}
      />
      <DayField
        key={`from ${period.from}`}
        label={t.period.from}
        value={period.from}
        onChange={(from) => change({ from, to: period.to, period: undefined })}
      />
      <span className={list['faint']}>{t.period.until}</span>
      <DayField
        key={`to ${period.to}`}
        label={t.period.to}
        value={period.to}
        onChange={(to) => change({ from: period.from, to, period: undefined })}
      />
      {FILTERS.map((filter) => (
        <RecordFilter key={filter} filter={filter} search={search} period={period} change={change} />
      ))}
      {isFiltered && (
        <Button
          variant="subtle"
          color="gray"
          onClick={() => change({ workspace: undefined, cluster: undefined, user: undefined })}
        >
          {commonTexts.clear}
        </Button>
      )}
    </div>
  );
}

interface DayFieldProps {
  label: string;
  value: string;
  onChange: (day: string) => void;
}

/** A day; one that is not complete yet changes nothing. */
function DayField({ label, value, onChange }: DayFieldProps): ReactNode {
  const [text, setText] = useState(value);
  return (
    <TextInput
      type="date"
      size="xs"
      aria-label={label}
      title={label}
      required
      value={text}
      onChange={({ currentTarget: { value: typed } }) => {
        setText(typed);
        const day = dayParam(typed);
        if (day !== undefined && day !== value) onChange(day);
      }}
      onBlur={() => setText(value)}
    />
  );
}

interface RecordFilterProps {
  filter: Filter;
  search: CostsSearch;
  period: Period;
  change: (part: Partial<CostsSearch>) => void;
}

/** Offers the records that had costs in the period. */
function RecordFilter({ filter, search, period, change }: RecordFilterProps): ReactNode {
  const { data } = useQuery(optionsQuery(period, filter));
  const [label, all] = t.filters[filter];
  const selected = search[filter] ?? null;
  const options = (data?.data ?? []).flatMap((line) => optionOf(filter, line));
  const isKnown = selected === null || options.some(({ value }) => value === selected);
  return (
    <ChoiceFilter
      label={label}
      options={[
        { value: null, label: all },
        ...options,
        ...(isKnown ? [] : [{ value: selected, label: `${label} #${selected}` }]),
      ]}
      selected={selected}
      onChange={(value) => change({ [filter]: value ?? undefined })}
    />
  );
}

function optionOf(filter: Filter, line: CostLine): { value: number; label: string }[] {
  if (filter === 'user') return line.user ? [{ value: line.user.user_id, label: line.user.username }] : [];
  const subject = line[filter];
  return subject ? [{ value: subject.id, label: subject.name ?? `#${subject.id}` }] : [];
}
