import { Button } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { CheckCluster, ClusterCheck, ClusterFault, ClusterRead, CreateCluster } from 'managed-spark/types';
import { type ReactNode, useMemo, useState } from 'react';
import { ActionButton } from '../../shared/action-button';
import { clusterTexts as t } from '../../shared/cluster-texts';
import { commonTexts } from '../../shared/common-texts';
import { EmptyState } from '../../shared/empty-state';
import { faultsOfError } from '../../shared/field-faults';
import { Icon } from '../../shared/icons';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { useMay } from '../../shared/rights/use-may';
import { texts } from '../../shared/texts';
import {
  changedPaths,
  changesBody,
  FIELDS,
  type FieldPath,
  newBody,
  newValues,
  type Values,
  valuesOf,
} from './cluster-fields';
import { type Choices, ClusterForm } from './cluster-form';
import { changeCluster, clusterCheckQuery, clusterChoicesQuery, makeCluster } from './cluster-form-api';
import { choicesOf, firstFitting, type Records } from './cluster-choices';
import styles from './cluster-form.module.css';
import { ClusterSummary, focusField } from './cluster-summary';
import { clusterQuery, start } from './clusters-api';

/** Time without a change after which the fields are checked, milliseconds. */
const CHECK_DELAY_MS = 250;

export function NewClusterScreen(): ReactNode {
  const { data: records, error, refetch } = useQuery(clusterChoicesQuery);
  return (
    <Screen title={t.newTitle} error={error} onRetry={() => void refetch()}>
      {records && <NewCluster records={records} />}
    </Screen>
  );
}

export function EditClusterScreen(): ReactNode {
  const { clusterId } = useParams({ from: '/clusters/$clusterId/edit' });
  const { data: records, error: unlisted } = useQuery(clusterChoicesQuery);
  const { data: cluster, error, refetch } = useQuery(clusterQuery(clusterId));
  if (cluster && records) return <EditCluster key={clusterId} cluster={cluster} records={records} />;
  return <Screen title={`#${clusterId}`} error={unlisted ?? error} onRetry={() => void refetch()} />;
}

interface ScreenProps {
  title: string;
  error: Error | null;
  onRetry: () => void;
  children?: ReactNode;
}

/** The screen while its records are read, or when they cannot be. */
function Screen({ title, error, onRetry, children }: ScreenProps): ReactNode {
  if (!error && children) return children;
  return (
    <Page title={title} trail={<Trail />}>
      {error && <ProblemPanel error={error} onRetry={onRetry} />}
    </Page>
  );
}

function Trail({ cluster }: { cluster?: ClusterRead }): ReactNode {
  return (
    <>
      <Link to="/clusters">{texts.clusters.title}</Link>
      {cluster && (
        <>
          {' / '}
          <Link to="/clusters/$clusterId" params={{ clusterId: cluster.cluster_id }}>
            {cluster.name}
          </Link>
        </>
      )}
    </>
  );
}

function NewCluster({ records }: { records: Records }): ReactNode {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const why = useMay(['createCluster', 'startCluster']);
  const [given, setGiven] = useState<Values>(() => ({
    ...newValues(records.types[0]?.name ?? 'PLATFORM'),
    cloud_env_id: String(records.environments[0]?.cloud_env_id ?? ''),
  }));
  const [isTried, setIsTried] = useState(false);
  const [checked, setChecked] = useState<ClusterCheck>();
  // A field that was not chosen yet has the first choice that fits the environment.
  const values = useMemo(() => firstFitting(given, records, checked), [given, records, checked]);
  const body = useMemo(() => newBody(values), [values]);
  const check = useCheck(body);
  if (check.data && check.data !== checked) setChecked(check.data);
  const create = useMutation({
    mutationFn: async (isStarted: boolean) => {
      const clusterId = await makeCluster(body as CreateCluster);
      if (isStarted) await start(clusterId);
      void queries.invalidateQueries({ queryKey: ['clusters'] });
      await navigate({ to: '/clusters/$clusterId', params: { clusterId } });
    },
  });
  if (records.environments.length === 0 || records.machines.length === 0) {
    return (
      <Page title={t.newTitle} trail={<Trail />}>
        <EmptyState icon="clusters" title={t.noEnvironment} hint={t.noEnvironmentHint} />
      </Page>
    );
  }
  const submit = (isStarted: boolean) => {
    setIsTried(true);
    if (check.isFor(body) && check.data?.is_accepted === false) focusFirst(check.data);
    else create.mutate(isStarted);
  };
  return (
    <Page
      title={t.newTitle}
      trail={<Trail />}
      actions={
        <>
          <ActionButton why={why} variant="default" loading={create.isPending} onClick={() => submit(false)}>
            {t.create}
          </ActionButton>
          <ActionButton
            why={why}
            leftSection={<Icon name="play" size={14} />}
            loading={create.isPending}
            onClick={() => submit(true)}
          >
            {t.createAndStart}
          </ActionButton>
        </>
      }
    >
      <Fields
        isNew
        {...{ records, values, isTried }}
        check={check}
        refused={create.error}
        hasChanges
        onChange={(path, value) => setGiven((before) => ({ ...before, [path]: value }))}
      />
    </Page>
  );
}

function EditCluster({ cluster, records }: { cluster: ClusterRead; records: Records }): ReactNode {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { cluster_id: clusterId } = cluster;
  const [saved] = useState(() => valuesOf(cluster));
  const [values, setValues] = useState<Values>(saved);
  const changed = changedPaths(saved, values);
  const body = useMemo(() => changesBody(values, changedPaths(saved, values)), [values, saved]);
  const check = useCheck(useMemo(() => ({ cluster_id: clusterId, ...body }), [clusterId, body]));
  const unable = useMay('updateCluster');
  const why = unable ?? (changed.length === 0 ? commonTexts.reasons.unchanged : null);
  const leave = () => navigate({ to: '/clusters/$clusterId', params: { clusterId } });
  const save = useMutation({
    mutationFn: async () => {
      await changeCluster(clusterId, body);
      await queries.invalidateQueries({ queryKey: clusterQuery(clusterId).queryKey });
      await leave();
    },
  });
  return (
    <Page
      title={t.editTitle(cluster.name)}
      trail={<Trail cluster={cluster} />}
      actions={
        <>
          <Button variant="default" onClick={() => void leave()}>
            {t.cancel}
          </Button>
          <ActionButton why={why} loading={save.isPending} onClick={() => save.mutate()}>
            {t.save}
          </ActionButton>
        </>
      }
    >
      <Fields
        isNew={false}
        isTried
        {...{ records, values }}
        check={check}
        refused={save.error}
        hasChanges={changed.length > 0}
        onChange={(path, value) => setValues((before) => ({ ...before, [path]: value }))}
      />
    </Page>
  );
}

interface Checking {
  data: ClusterCheck | undefined;
  error: Error | null;
  /** True if the answer is about this very request. */
  isFor: (body: object) => boolean;
}

function useCheck(body: CheckCluster): Checking {
  const [settled] = useDebouncedValue(body, CHECK_DELAY_MS);
  const { data, error, isPlaceholderData } = useQuery(clusterCheckQuery(settled));
  return { data, error, isFor: (wanted) => settled === wanted && !isPlaceholderData };
}

interface FieldsProps {
  records: Records;
  values: Values;
  check: Checking;
  refused: Error | null;
  isNew: boolean;
  /** True once somebody has tried to send it: from then on, missing fields are marked, too. */
  isTried: boolean;
  hasChanges: boolean;
  onChange: (path: FieldPath, value: string) => void;
}

function Fields(props: FieldsProps): ReactNode {
  const { records, values, check, refused, isNew, isTried, hasChanges, onChange } = props;
  const { data } = check;
  const present = presentFaults(data, values);
  const missing = new Set<string>(FIELDS.map(({ path }) => path).filter((path) => (values[path] ?? '') === ''));
  const found = present.filter(({ field }) => field !== null && (isTried || !missing.has(field)));
  const faults = {
    ...Object.fromEntries(found.map(({ field, message }) => [field ?? '', message])),
    ...faultsOfError(check.error),
    ...faultsOfError(refused),
  };
  const choices: Choices = useMemo(() => choicesOf(records, values, data), [records, values, data]);
  const problem = refused ?? (Object.keys(faultsOfError(check.error)).length > 0 ? null : check.error);
  const off = (data?.misfits ?? []).filter(({ value }) => value === null);
  return (
    <>
      {problem && <ProblemPanel error={problem} />}
      {data?.fixed_reason && (
        <p className={styles['fixed']}>
          <Icon name="info" size={18} />
          {data.fixed_reason}
        </p>
      )}
      <div className={styles['layout']}>
        <ClusterForm
          {...{ values, choices, faults, isNew, onChange }}
          offReasons={Object.fromEntries(off.map(({ field, reason }) => [field, reason]))}
          fixed={new Set(data?.fixed_fields)}
        />
        <ClusterSummary check={data} faults={present} missing={missing} hasChanges={hasChanges} />
      </div>
    </>
  );
}

/** Until the next answer, a field that was filled meanwhile is not told to be missing. */
function presentFaults(check: ClusterCheck | undefined, values: Values): ClusterFault[] {
  const filled = new Set(FIELDS.map(({ path }) => path).filter((path) => (values[path] ?? '') !== ''));
  return (check?.faults ?? []).filter(
    ({ field, message }) => !(field !== null && message === `${field} is required` && filled.has(field as FieldPath)),
  );
}

function focusFirst({ faults }: ClusterCheck): void {
  const paths = new Set(faults.map(({ field }) => field));
  const first = FIELDS.find(({ path }) => paths.has(path));
  if (first) focusField(first.path);
}
