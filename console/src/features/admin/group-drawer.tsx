import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { GroupRead } from 'managed-spark/types';
import { type ReactNode, useMemo, useState } from 'react';
import { ActionButton } from '../../shared/action-button';
import { adminTexts } from '../../shared/admin-texts';
import { Confirm } from '../../shared/confirm';
import { DetailDrawer } from '../../shared/detail-drawer';
import { ProblemPanel } from '../../shared/problem-panel';
import styles from './admin.module.css';
import { accountsQuery, groupQuery, membersQuery, peopleChanges } from './people-api';

const texts = adminTexts.groups;
const SEARCH_DELAY_MS = 200;

interface GroupDrawerProps {
  groupId: number;
  onClose: () => void;
}

/** A group with its members. */
export function GroupDrawer({ groupId, onClose }: GroupDrawerProps): ReactNode {
  const { data: group, error, refetch } = useQuery(groupQuery(groupId));
  return (
    <DetailDrawer title={group?.group_name ?? `#${groupId}`} error={error} onRetry={refetch} onClose={onClose}>
      {group && <Members group={group} onDeleted={onClose} />}
    </DetailDrawer>
  );
}

function Members({ group, onDeleted }: { group: GroupRead; onDeleted: () => void }): ReactNode {
  const { group_id: id, group_name: name } = group;
  const queries = useQueryClient();
  const changes = useMemo(() => peopleChanges(queries), [queries]);
  const { data: members, error } = useQuery(membersQuery(id));
  const remaining = (members?.result_set.total_objects ?? 0) - (members?.data.length ?? 0);
  return (
    <div className={styles['stack']}>
      <section className={styles['block']}>
        <h3>{texts.members}</h3>
        {error && <ProblemPanel error={error} />}
        {members?.data.length === 0 && <span className={styles['note']}>{texts.noMember}</span>}
        <ul className={styles['rows']}>
          {members?.data.map(({ user_id: userId, username }) => (
            <li key={userId}>
              <Link to="/admin/users" search={{ open: userId }}>
                {username}
              </Link>
              <Confirm
                action={texts.remove}
                label={`${texts.remove} ${username}`}
                question={texts.removeTitle(username, name)}
                consequence={texts.removeHint}
                run={() => changes.removeMember(id, userId)}
              />
            </li>
          ))}
        </ul>
        {remaining > 0 && (
          <Link to="/admin/users" search={{ group: id }}>
            {texts.allMembers}
          </Link>
        )}
      </section>
      <AddMember groupId={id} />
      <div>
        <Confirm
          action={texts.delete}
          question={texts.deleteTitle(name)}
          consequence={texts.deleteHint}
          run={async () => {
            await changes.deleteGroup(id);
            onDeleted();
          }}
        />
      </div>
    </div>
  );
}

function AddMember({ groupId }: { groupId: number }): ReactNode {
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const [searched] = useDebouncedValue(text, SEARCH_DELAY_MS);
  const { data: found } = useQuery(accountsQuery(searched));
  const add = useMutation({
    mutationFn: (userId: number) => peopleChanges(queries).addMember(groupId, userId),
    onSuccess: () => {
      setChosen(null);
      setText('');
    },
  });
  return (
    <section className={styles['block']}>
      <Select
        size="xs"
        w="100%"
        label={texts.add}
        placeholder={texts.addHint}
        searchable
        data={(found?.data ?? []).map(({ user_id: id, username }) => ({ value: String(id), label: username }))}
        // The server has searched already.
        filter={({ options }) => options}
        value={chosen}
        onChange={setChosen}
        searchValue={text}
        onSearchChange={setText}
      />
      <ActionButton
        why={chosen === null ? texts.noneChosen : null}
        loading={add.isPending}
        onClick={() => add.mutate(Number(chosen))}
      >
        {texts.add}
      </ActionButton>
      {add.isError && <ProblemPanel error={add.error} />}
    </section>
  );
}
