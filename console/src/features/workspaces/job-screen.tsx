import { Tabs } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { getJobConf } from 'managed-spark/operations';
import type { JobConfRead } from 'managed-spark/types';
import { type ReactNode, useState } from 'react';
import { ActionButton } from '../../shared/action-button';
import { firstChoice, useClusterChoices } from '../../shared/cluster-choices';
import { commonTexts } from '../../shared/common-texts';
import { CopyAs } from '../../shared/copy-as';
import { Icon } from '../../shared/icons';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import type { Reason } from '../../shared/rights/rights';
import { useMay } from '../../shared/rights/use-may';
import { texts } from '../../shared/texts';
import {
  bodyOf,
  differences,
  type Language,
  LANGUAGES,
  languageOf,
  type Values,
  valuesOf,
} from '../../shared/jobs/job-fields';
import { JobForm } from './job-form';
import { JobHistory } from './job-history';
import { changeJob, jobQuery, makeJob, runJob, switchJob } from './jobs-api';
import { nameOf, recordNameOf } from './paths';
import { WorkspaceTrail } from './workspace-screen';
import list from '../../shared/list-screen.module.css';
import tabs from '../../shared/tabs.module.css';

const t = texts.workspaces.job;

/** A new job, for a file if the address names one. */
export function NewJobScreen(): ReactNode {
  const { workspaceId } = useParams({ from: '/workspaces/$workspaceId/jobs/new' });
  const { path } = useSearch({ from: '/workspaces/$workspaceId/jobs/new' });
  const { clusters, error } = useClusterChoices(workspaceId);
  const navigate = useNavigate();
  const [language, setLanguage] = useState<Language>((path && languageOf(path)) || 'Python3');
  const [values, setValues] = useState<Values>(() =>
    valuesOf(path === undefined ? {} : { name: recordNameOf(nameOf(path)), command: path }),
  );
  const [chosen, setChosen] = useState<string | null>(null);
  const cluster = chosen ?? firstChoice(clusters);
  const uncreatable = useMay('createJobConf', workspaceId);
  const unrunnable = useMay(['createJobConf', 'createJob'], workspaceId);
  const create = useMutation({
    mutationFn: async (isRun: boolean) => {
      const body = { ...bodyOf(values, language), name: values['name']?.trim() ?? '', job_type: language };
      const jobId = await makeJob(workspaceId, { ...body, ...(cluster ? { cluster_id: Number(cluster) } : {}) });
      if (!isRun) return navigate({ to: '/workspaces/$workspaceId/jobs/$jobId', params: { workspaceId, jobId } });
      const runId = await runJob(workspaceId, jobId);
      return navigate({ to: '/runs/$workspaceId/$runId', params: { workspaceId, runId } });
    },
  });
  return (
    <Page
      title={t.newTitle}
      trail={<WorkspaceTrail workspaceId={workspaceId} />}
      actions={
        <>
          <ActionButton
            why={uncreatable}
            variant="default"
            loading={create.isPending}
            onClick={() => create.mutate(false)}
          >
            {t.create}
          </ActionButton>
          <ActionButton
            why={unrunnable}
            leftSection={<Icon name="play" size={14} />}
            loading={create.isPending}
            onClick={() => create.mutate(true)}
          >
            {t.createAndRun}
          </ActionButton>
        </>
      }
    >
      {error && <ProblemPanel error={error} />}
      <JobForm
        values={values}
        language={language}
        cluster={cluster}
        clusters={clusters ?? []}
        error={create.error}
        onValues={setValues}
        onLanguage={setLanguage}
        onCluster={setChosen}
      />
    </Page>
  );
}

export function JobScreen(): ReactNode {
  const { workspaceId, jobId } = useParams({ from: '/workspaces/$workspaceId/jobs/$jobId' });
  const { data: job, error, refetch } = useQuery(jobQuery(workspaceId, jobId));
  if (error && !job) {
    return (
      <Page title={`#${jobId}`} trail={<WorkspaceTrail workspaceId={workspaceId} />}>
        <ProblemPanel error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  // The form begins again with what was saved.
  return job ? <Job key={`${jobId} ${job.last_update_date}`} workspaceId={workspaceId} job={job} /> : null;
}

function Job({ workspaceId, job }: { workspaceId: number; job: JobConfRead }): ReactNode {
  const { job_conf_id: jobId } = job;
  const { tab = 'settings' } = useSearch({ from: '/workspaces/$workspaceId/jobs/$jobId' });
  const navigate = useNavigate({ from: '/workspaces/$workspaceId/jobs/$jobId' });
  const queries = useQueryClient();
  const { clusters = [] } = useClusterChoices(workspaceId);
  const saved = valuesOf(job);
  const [values, setValues] = useState<Values>(saved);
  const [cluster, setCluster] = useState<string | null>(String(job.cluster_info.cluster_id));
  const language = LANGUAGES.find((one) => one === job.spark_job_type.language) ?? 'Python3';
  const isChanged = differences(saved, values).length > 0 || cluster !== String(job.cluster_info.cluster_id);
  const isEnabled = job.to_date === null || job.to_date === 'infinity';
  const unchangeable = useMay(['updateJobConf', isEnabled ? 'disableJobConf' : 'enableJobConf'], workspaceId);
  const unrunnable = useMay('createJob', workspaceId);
  const refresh = () => queries.invalidateQueries({ queryKey: ['jobs', workspaceId] });
  const save = useMutation({
    mutationFn: () => changeJob(workspaceId, jobId, changesOf(values, saved, language, cluster)),
    onSuccess: refresh,
  });
  const run = useMutation({
    mutationFn: () => runJob(workspaceId, jobId),
    onSuccess: (runId) => navigate({ to: '/runs/$workspaceId/$runId', params: { workspaceId, runId } }),
  });
  const flip = useMutation({ mutationFn: () => switchJob(workspaceId, jobId, !isEnabled), onSuccess: refresh });
  return (
    <Page
      title={job.name}
      trail={<WorkspaceTrail workspaceId={workspaceId} />}
      badge={isEnabled ? null : <span className={list['faint']}>{t.disabled}</span>}
      subtitle={`${t.types[language]} · ${job.cluster_info.name}`}
      actions={
        <>
          <CopyAs
            call={{ operation: getJobConf, path: { workspace_id: workspaceId }, query: { job_conf_id: jobId } }}
          />
          <ActionButton
            why={unchangeable}
            variant="subtle"
            color="gray"
            loading={flip.isPending}
            onClick={() => flip.mutate()}
          >
            {isEnabled ? t.disable : t.enable}
          </ActionButton>
          <ActionButton
            why={unchangeable ?? (isChanged ? null : commonTexts.reasons.unchanged)}
            variant="default"
            loading={save.isPending}
            onClick={() => save.mutate()}
          >
            {t.save}
          </ActionButton>
          <ActionButton
            why={unrunnable ?? whyNotRun(isEnabled, isChanged)}
            leftSection={<Icon name="play" size={14} />}
            loading={run.isPending}
            onClick={() => run.mutate()}
          >
            {t.run}
          </ActionButton>
        </>
      }
    >
      {run.isError && <ProblemPanel error={run.error} />}
      {flip.isError && <ProblemPanel error={flip.error} />}
      <Tabs
        value={tab}
        onChange={(value) => void navigate({ search: value === 'history' ? { tab: value } : {}, replace: true })}
        classNames={{ panel: tabs['panel'] }}
      >
        <Tabs.List>
          <Tabs.Tab value="settings">{t.tabs.settings}</Tabs.Tab>
          <Tabs.Tab value="history">{t.tabs.history}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="settings">
          <JobForm
            values={values}
            language={language}
            cluster={cluster}
            clusters={clusters}
            error={save.error}
            onValues={setValues}
            onCluster={setCluster}
          />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          {tab === 'history' && <JobHistory workspaceId={workspaceId} jobId={jobId} />}
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

/** A disabled job takes no runs, and a run has the settings that are saved. */
function whyNotRun(isEnabled: boolean, isChanged: boolean): Reason {
  if (!isEnabled) return t.whyDisabled;
  return isChanged ? commonTexts.reasons.unsaved : null;
}

/** Only what was changed is sent, so that two people who change different fields keep both. */
function changesOf(values: Values, saved: Values, language: Language, cluster: string | null) {
  const changed = new Set<string>(differences(saved, values).map(({ name }) => name));
  const body = Object.entries(bodyOf(values, language)).filter(([name]) => changed.has(name));
  return { ...Object.fromEntries(body), ...(cluster ? { cluster_id: Number(cluster) } : {}) };
}
