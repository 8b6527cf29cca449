import { Select, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { JobConfListItem } from 'managed-spark/types';
import { type ReactNode, useState } from 'react';
import { type ClusterChoice, firstChoice, useClusterChoices } from '../../shared/cluster-choices';
import { ClusterSelect } from '../../shared/cluster-select';
import { useMay } from '../../shared/rights/use-may';
import { texts } from '../../shared/texts';
import { jobsQuery, runFile } from './jobs-api';
import { languageOf, recordsText } from '../../shared/jobs/job-fields';
import { cleanPath, nameOf, recordNameOf } from './paths';
import { Question } from '../../shared/question';
import list from '../../shared/list-screen.module.css';

interface RunFileProps {
  workspaceId: number;
  path: string;
  onClose: () => void;
}

const NEW = 'new';

/** Runs a file: by the job that ran it before, or by a new one. */
export function RunFile({ workspaceId, path, onClose }: RunFileProps): ReactNode {
  const { clusters, error: failed } = useClusterChoices(workspaceId);
  const { data: all } = useQuery(jobsQuery(workspaceId));
  if (failed) throw failed;
  if (!clusters || !all) return null;
  return (
    <RunFileForm
      workspaceId={workspaceId}
      path={path}
      clusters={clusters}
      names={new Set(all.map(({ name }) => name))}
      jobs={all.filter((job) => runs(job, path))}
      onClose={onClose}
    />
  );
}

interface RunFileFormProps extends RunFileProps {
  clusters: readonly ClusterChoice[];
  /** Names of jobs that are taken. */
  names: ReadonlySet<string>;
  /** Jobs that run the file already. */
  jobs: readonly JobConfListItem[];
}

function RunFileForm({ workspaceId, path, clusters, names, jobs, onClose }: RunFileFormProps): ReactNode {
  const t = texts.workspaces.runFile;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const language = languageOf(path) ?? 'Python3';
  const [latest] = jobs;
  const [chosen, setChosen] = useState(idOf(latest?.job_conf_id) ?? NEW);
  const job = jobs.find(({ job_conf_id: id }) => String(id) === chosen) ?? null;
  const [name, setName] = useState(() => freeName(recordNameOf(nameOf(path)), names));
  const [cluster, setCluster] = useClusterPick(clusters);
  const [given, setGiven] = useState(latest?.arguments ?? '');
  const act = async () => {
    const runId = await runFile({
      ...{ workspaceId, path, language, job, name: name.trim() },
      ...{ clusterId: Number(cluster), arguments: given.trim() },
    });
    void queries.invalidateQueries({ queryKey: ['jobs', workspaceId] });
    await navigate({ to: '/runs/$workspaceId/$runId', params: { workspaceId, runId } });
  };
  const uncreatable = useMay('createJobConf', workspaceId);
  // The main class of a jar has its place in the whole form.
  const canBeMade = language !== 'Jar' && cluster !== null && name.trim() !== '';
  return (
    <Question
      title={t.title(nameOf(path))}
      confirm={t.submit}
      isReady={job !== null || canBeMade}
      why={job === null ? uncreatable : null}
      aside={
        <Link to="/workspaces/$workspaceId/jobs/new" params={{ workspaceId }} search={{ path }}>
          {t.more}
        </Link>
      }
      act={act}
      onClose={onClose}
    >
      <JobSelect jobs={jobs} value={chosen} onChange={setChosen} />
      {job === null && <ClusterSelect clusters={clusters} hint={t.clusterHint} value={cluster} onChange={setCluster} />}
      {!recordsText(language) && (
        <TextInput
          label={t.arguments}
          description={t.argumentsHint}
          value={given}
          onChange={({ currentTarget: { value } }) => setGiven(value)}
          data-autofocus
        />
      )}
      {job === null && (
        <TextInput label={t.jobName} value={name} onChange={({ currentTarget: { value } }) => setName(value)} />
      )}
      {recordsText(language) && <p className={list['soft']}>{t.copied}</p>}
    </Question>
  );
}

/** The cluster that was picked, and until then the best one. */
function useClusterPick(clusters: readonly ClusterChoice[]) {
  const [picked, setPicked] = useState<string | null>(null);
  return [picked ?? firstChoice(clusters), setPicked] as const;
}

interface JobSelectProps {
  jobs: readonly JobConfListItem[];
  value: string;
  onChange: (value: string) => void;
}

function JobSelect({ jobs, value, onChange }: JobSelectProps): ReactNode {
  const t = texts.workspaces.runFile;
  if (jobs.length === 0) return null;
  return (
    <Select
      label={t.job}
      allowDeselect={false}
      data={[
        ...jobs.map(({ job_conf_id: id, name: label }) => ({ value: String(id), label })),
        { value: NEW, label: t.newJob },
      ]}
      value={value}
      onChange={(chosen) => onChange(chosen ?? NEW)}
    />
  );
}

function idOf(id: number | undefined): string | null {
  return id === undefined ? null : String(id);
}

function runs({ command, extra_info: extra }: JobConfListItem, path: string): boolean {
  return cleanPath(command ?? '') === path || (command === null && extra?.['file'] === path);
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name.slice(0, 60)}-${count}`;
  return free;
}
