import { SegmentedControl, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Forbidden } from 'managed-spark/core';
import { type ReactNode, useState } from 'react';
import { accessTexts as texts } from '../../shared/access-texts';
import { ProblemPanel } from '../../shared/problem-panel';
import { Question } from '../../shared/question';
import { idParam } from '../../shared/search-params';
import { directoryQuery, grant, permissionsQuery } from './access-api';
import type { Holders } from './access-search';
import styles from './access-screen.module.css';

const SEARCH_DELAY_MS = 200;

interface GrantDialogProps {
  workspaceId: number;
  workspace: string;
  of: Holders;
  /** @param granted the id of the user or group that has got a permission */
  onClose: (granted?: number) => void;
}

export function GrantDialog({ workspaceId, workspace, of, onClose }: GrantDialogProps): ReactNode {
  const queries = useQueryClient();
  const { data: permissions = [] } = useQuery(permissionsQuery);
  const [holder, setHolder] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const permission = chosen ?? String(permissions[0]?.permission_id ?? '');
  const meaning = permissions.find(({ permission_id: id }) => String(id) === permission)?.name;
  const id = idParam(holder);
  const give = async () => {
    if (id === undefined) return;
    await grant({ workspaceId, of, id }, Number(permission));
    await queries.invalidateQueries({ queryKey: ['access', workspaceId] });
    await queries.invalidateQueries({ queryKey: ['rights'] });
  };
  return (
    <Question
      title={texts.grantTitle(workspace)}
      confirm={texts.grant}
      isReady={id !== undefined}
      act={give}
      onClose={() => onClose()}
      onDone={() => onClose(id)}
    >
      <HolderField of={of} value={holder} onChange={setHolder} />
      <div className={styles['section']}>
        <SegmentedControl
          size="xs"
          fullWidth
          w="100%"
          aria-label={texts.what}
          data={permissions.map((one) => ({ value: String(one.permission_id), label: one.name }))}
          value={permission}
          onChange={setChosen}
        />
        {meaning && <span className={styles['note']}>{texts.meaning[meaning]}</span>}
      </div>
    </Question>
  );
}

interface HolderFieldProps {
  of: Holders;
  value: string | null;
  onChange: (value: string | null) => void;
}

/** Finds a user or group by name; by id for those who may not search the directory. */
function HolderField({ of, value, onChange }: HolderFieldProps): ReactNode {
  const [text, setText] = useState('');
  const [searched] = useDebouncedValue(text, SEARCH_DELAY_MS);
  const { data: found = [], error } = useQuery(directoryQuery(of, searched));
  if (error instanceof Forbidden) {
    return (
      <TextInput
        label={texts.id[of]}
        description={texts.idHint}
        inputMode="numeric"
        value={value ?? ''}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        data-autofocus
      />
    );
  }
  return (
    <>
      <Select
        size="xs"
        label={texts.who[of]}
        placeholder={texts.whoHint}
        searchable
        data={found.map(({ id, name }) => ({ value: String(id), label: name }))}
        // The server has searched already.
        filter={({ options }) => options}
        nothingFoundMessage={searched === '' ? undefined : texts.nobody}
        value={value}
        onChange={onChange}
        searchValue={text}
        onSearchChange={setText}
        data-autofocus
      />
      {error && <ProblemPanel error={error} />}
    </>
  );
}
