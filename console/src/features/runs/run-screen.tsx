import { Button, Tabs } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { JobRead } from 'managed-spark/types';
import type { ReactNode } from 'react';
import { ActionButton } from '../../shared/action-button';
import { Icon } from '../../shared/icons';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { Question } from '../../shared/question';
import { workspaceQuery } from '../../shared/records';
import { useMay } from '../../shared/rights/use-may';
import { StateBadge } from '../../shared/state-badge';
import { texts } from '../../shared/texts';
import { RelativeTime, useNow } from '../../shared/time';
import { runAgain } from '../../shared/jobs/run-again';
import { type RunKey, runQuery, stopRun } from './run-api';
import { whyNotStopped } from './run-states';
import { RunConfiguration } from './run-configuration';
import { RunFailure } from './run-failure';
import { RunHistory } from './run-history';
import { RunLog } from './run-log';
import { RUN_TABS, type RunTab } from './run-search';
import { RunStages } from './run-stages';
import { RunTimeline } from './run-timeline';
import { SparkUi } from './spark-ui';
import tabs from '../../shared/tabs.module.css';
import styles from './run-screen.module.css';

export function RunScreen(): ReactNode {
  const { workspaceId, runId } = useParams({ from: '/runs/$workspaceId/$runId' });
  const key = { workspaceId, runId };
  const { data: run, error, refetch } = useQuery(runQuery(key));
  if (error && !run) {
    return (
      <Page title={`#${runId}`} trail={<Trail workspaceId={workspaceId} />}>
        <ProblemPanel error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  return run ? <Run key={runId} run={run} runKey={key} /> : null;
}

function Run({ run, runKey }: { run: JobRead; runKey: RunKey }): ReactNode {
  const now = useNow(1_000);
  const { tab = 'log' } = useSearch({ from: '/runs/$workspaceId/$runId' });
  const navigate = useNavigate({ from: '/runs/$workspaceId/$runId' });
  const show = (shown: RunTab) => void navigate({ search: (before) => ({ ...before, tab: shown }), replace: true });
  const { job_conf: conf, cluster_info: cluster, created_by: by } = run;
  return (
    <Page
      title={conf.name}
      trail={<Trail workspaceId={runKey.workspaceId} />}
      badge={
        <>
          <span className={styles['id']}>#{run.job_id}</span>
          <StateBadge state={run.job_status} />
        </>
      }
      subtitle={
        <>
          {by ? texts.run.submittedBy(by.username) : texts.run.byPlatform} <RelativeTime at={run.from_date} now={now} />{' '}
          {texts.run.on} {cluster.name} · {conf.spark_job_type.language}
        </>
      }
      actions={<Actions run={run} runKey={runKey} />}
      fill
    >
      <RunFailure run={run} runKey={runKey} onShowLine={() => show('log')} />
      <RunTimeline run={run} runKey={runKey} now={now} />
      <Tabs
        value={tab}
        onChange={(value) => show(RUN_TABS.find((one) => one === value) ?? 'log')}
        className={tabs['tabs']}
        classNames={{ panel: tabs['panel'] }}
        keepMounted={false}
      >
        <Tabs.List>
          {RUN_TABS.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {texts.run.tabs[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="log">
          <RunLog run={run} runKey={runKey} />
        </Tabs.Panel>
        <Tabs.Panel value="stages">
          <RunStages run={run} runKey={runKey} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <RunHistory run={run} runKey={runKey} now={now} />
        </Tabs.Panel>
        <Tabs.Panel value="configuration">
          <RunConfiguration run={run} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Trail({ workspaceId }: { workspaceId: number }): ReactNode {
  const { data: workspace } = useQuery(workspaceQuery(workspaceId));
  return (
    <>
      <Link to="/runs">{texts.run.trail}</Link>
      <Icon name="chevronRight" size={12} />
      <Link to="/runs" search={{ workspace: workspaceId }}>
        {workspace?.name ?? '…'}
      </Link>
    </>
  );
}

function Actions({ run, runKey }: { run: JobRead; runKey: RunKey }): ReactNode {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [isAsking, asking] = useDisclosure(false);
  const unstoppable = useMay('killJob', runKey.workspaceId);
  const unrepeatable = useMay('createJob', runKey.workspaceId);
  const again = useMutation({
    mutationFn: () => runAgain(run),
    onSuccess: (runId) => navigate({ to: '/runs/$workspaceId/$runId', params: { ...runKey, runId } }),
  });
  const stop = async () => {
    await stopRun(runKey);
    await queries.invalidateQueries({ queryKey: runQuery(runKey).queryKey });
  };
  return (
    <>
      <ActionButton
        why={unstoppable ?? whyNotStopped(run.job_status)}
        variant="default"
        leftSection={<Icon name="stop" size={14} />}
        onClick={asking.open}
      >
        {texts.run.stop}
      </ActionButton>
      <Button
        variant="default"
        leftSection={<Icon name="cost" size={14} />}
        renderRoot={(props) => <Link to="/costs" search={costsOf(run, runKey)} {...props} />}
      >
        {texts.run.cost}
      </Button>
      <SparkUi run={run} runKey={runKey} />
      <ActionButton
        why={unrepeatable}
        leftSection={<Icon name="again" size={14} />}
        loading={again.isPending}
        onClick={() => again.mutate()}
      >
        {texts.run.again}
      </ActionButton>
      {again.isError && <ProblemPanel error={again.error} />}
      {isAsking && (
        <Question
          title={texts.run.stopTitle}
          confirm={texts.run.stopConfirm}
          cancel={texts.run.keep}
          isDangerous
          act={stop}
          onClose={asking.close}
        >
          <p>{texts.run.stopHint}</p>
        </Question>
      )}
    </>
  );
}

/** Returns where the cost of a run is shown: among the runs of its days. */
function costsOf({ from_date: from, to_date: to }: JobRead, { workspaceId, runId }: RunKey) {
  const until = to === null ? {} : { to: to.slice(0, 10) };
  return { from: from.slice(0, 10), ...until, by: 'run' as const, run: runId, in: workspaceId };
}
