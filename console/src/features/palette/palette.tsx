import '@mantine/spotlight/styles.css';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { Icon, type IconName } from '../../shared/icons';
import { StateBadge } from '../../shared/state-badge';
import { texts } from '../../shared/texts';
import { placesQuery, recentRunsQuery } from './palette-api';

const SEARCH_DELAY_MS = 150;
/** So many of a kind are shown before somebody types. */
const MAX_SHOWN = 5;

interface PaletteProps {
  /** The screens that the navigation leads to. */
  screens: readonly { to: string; icon: IconName; label: string }[];
  /** Number of times that somebody wanted it. */
  opened: number;
}

/** Finds screens, workspaces, clusters and runs by name and id. */
export function Palette({ screens, opened }: PaletteProps): ReactNode {
  const t = texts.palette;
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [sent] = useDebouncedValue(text.trim(), SEARCH_DELAY_MS);
  useEffect(() => spotlight.open(), [opened]);
  const { data: places } = useQuery(placesQuery);
  const { data: runs = [] } = useQuery(recentRunsQuery(/^#?\d+$/.test(sent) ? '' : sent));
  const groups: SpotlightActionGroupData[] = [
    {
      group: t.screens,
      actions: screens.map(({ to, icon, label }) => ({
        id: to,
        label,
        leftSection: <Icon name={icon} />,
        onClick: () => void navigate({ to }),
      })),
    },
    {
      group: t.runs,
      actions: runs
        .filter(({ resource }) => resource === 'job')
        .map(({ run_id: runId, name, run_status: status, workspace }) => ({
          id: `run ${runId}`,
          label: `${name} #${runId}`,
          description: workspace.name,
          leftSection: <Icon name="runs" />,
          rightSection: <StateBadge state={status} />,
          onClick: () =>
            void navigate({
              to: '/runs/$workspaceId/$runId',
              params: { workspaceId: workspace.workspace_id, runId },
            }),
        })),
    },
    {
      group: t.workspaces,
      actions: (places?.workspaces ?? []).map(({ workspace_id: workspaceId, name, description }) => ({
        id: `workspace ${workspaceId}`,
        label: name,
        description: description ?? '',
        leftSection: <Icon name="folder" />,
        onClick: () => void navigate({ to: '/workspaces/$workspaceId', params: { workspaceId } }),
      })),
    },
    {
      group: t.clusters,
      actions: (places?.clusters ?? []).map(({ cluster_id: clusterId, name, cluster_status: status }) => ({
        id: `cluster ${clusterId}`,
        label: name,
        leftSection: <Icon name="clusters" />,
        rightSection: <StateBadge state={status} of="cluster" />,
        onClick: () => void navigate({ to: '/clusters/$clusterId', params: { clusterId } }),
      })),
    },
  ];
  return (
    <Spotlight
      // The shell opens it, because this part of the console is loaded only then.
      shortcut={null}
      query={text}
      onQueryChange={setText}
      actions={groups.map(({ group, actions }) => ({ group, actions: matching(actions, text.trim()) }))}
      filter={(_, shown) => shown}
      attributes={{ content: { 'aria-label': t.label } }}
      nothingFound={t.nothing}
      maxHeight={420}
      scrollable
      searchProps={{
        leftSection: <Icon name="search" size={18} />,
        placeholder: t.placeholder,
        'aria-label': t.placeholder,
      }}
    />
  );
}

/** Returns the actions whose name has every word of the text; or that have it as their id. */
function matching(actions: readonly SpotlightActionData[], text: string): SpotlightActionData[] {
  if (text === '') return actions.slice(0, MAX_SHOWN);
  const words = text.toLowerCase().split(/\s+/);
  const id = /^#?(\d+)$/.exec(text)?.[1];
  return actions.filter((action) => {
    const name = String(action.label ?? '').toLowerCase();
    return words.every((word) => name.includes(word)) || (id !== undefined && action.id.endsWith(` ${id}`));
  });
}
