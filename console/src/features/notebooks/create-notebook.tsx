import { Select, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { NotebookType } from 'managed-spark/types';
import { type ReactNode, useState } from 'react';
import { firstChoice, useClusterChoices } from '../../shared/cluster-choices';
import { ClusterSelect } from '../../shared/cluster-select';
import { notebookTexts as t } from '../../shared/notebook-texts';
import { Question } from '../../shared/question';
import { workspacesQuery } from '../../shared/records';
import { useMay } from '../../shared/rights/use-may';
import { makeNotebook } from './notebooks-list-api';

interface CreateNotebookProps {
  /** The workspace that is chosen at first. */
  workspaceId: number | undefined;
  /** A file to import, with the language that it names; null for an empty notebook. */
  imported: { file: File; language: NotebookType } | null;
  onClose: () => void;
}

const LANGUAGES = ['python3', 'sql', 'scala'] as const;
const NAME = /^[a-z0-9.@_-]{1,64}$/;

/** Asks for what a notebook needs, makes it and opens it. */
export function CreateNotebook({ workspaceId, imported, onClose }: CreateNotebookProps): ReactNode {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { data: workspaces = [] } = useQuery(workspacesQuery('enabled'));
  const [name, setName] = useState(() => (imported ? nameOf(imported.file.name) : ''));
  const [language, setLanguage] = useState<NotebookType>(imported?.language ?? 'python3');
  const [workspace, setWorkspace] = useChoice(workspaceId, workspaces[0]?.workspace_id);
  const { clusters = [] } = useClusterChoices(workspace === null ? undefined : Number(workspace));
  const [picked, setPicked] = useState<string | null>(null);
  // Another workspace may not use the cluster that was picked.
  const isPickable = clusters.some(({ cluster_id: id, why: reserved }) => String(id) === picked && reserved === null);
  const cluster = isPickable ? picked : firstChoice(clusters);
  const why = useMay('createNotebookConf', workspace === null ? undefined : Number(workspace));
  const act = async () => {
    const place = { workspaceId: Number(workspace), clusterId: Number(cluster) };
    const id = await makeNotebook({ ...place, name, language, file: imported?.file ?? null });
    await queries.invalidateQueries({ queryKey: ['notebooks'] });
    await navigate({
      to: '/notebooks/$workspaceId/$notebookConfId',
      params: { workspaceId: place.workspaceId, notebookConfId: id },
    });
  };
  return (
    <Question
      title={imported ? t.import : t.create}
      confirm={imported ? t.import : t.create}
      isReady={NAME.test(name) && workspace !== null && cluster !== null}
      why={why}
      act={act}
      onClose={onClose}
    >
      <p>{imported ? t.importHint(imported.file.name) : t.createHint}</p>
      <TextInput
        label={t.name}
        description={t.nameHint}
        value={name}
        onChange={({ currentTarget: { value } }) => setName(value)}
        data-autofocus
      />
      <Select
        label={t.language}
        allowDeselect={false}
        data={LANGUAGES.map((value) => ({ value, label: t.languages[value] }))}
        value={language}
        onChange={(value) => setLanguage(LANGUAGES.find((one) => one === value) ?? 'python3')}
      />
      <Select
        label={t.workspace}
        allowDeselect={false}
        searchable
        data={workspaces.map(({ workspace_id: id, name: label }) => ({ value: String(id), label }))}
        value={workspace}
        onChange={setWorkspace}
      />
      <ClusterSelect clusters={clusters} hint={t.clusterHint} value={cluster} onChange={setPicked} />
    </Question>
  );
}

/** The id that was chosen, and until then the given one or else the first. */
function useChoice(given: number | undefined, first: number | undefined) {
  const [chosen, setChosen] = useState<string | null>(given === undefined ? null : String(given));
  return [chosen ?? (first === undefined ? null : String(first)), setChosen] as const;
}

/** Returns a name for the notebook of a file. */
function nameOf(file: string): string {
  return file
    .replace(/\.ipynb$/i, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9.@_-]+/g, '-')
    .slice(0, 64);
}
