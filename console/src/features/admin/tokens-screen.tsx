import { Button, Modal, SegmentedControl, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { TokenRead } from 'managed-spark/types';
import { type ReactNode, useMemo, useState } from 'react';
import { ActionButton } from '../../shared/action-button';
import { adminTexts } from '../../shared/admin-texts';
import { commonTexts } from '../../shared/common-texts';
import { Confirm } from '../../shared/confirm';
import { CopyButton } from '../../shared/copy-button';
import { type Column, DataTable } from '../../shared/data-table';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import { Pager } from '../../shared/pager';
import { ProblemPanel } from '../../shared/problem-panel';
import { Question } from '../../shared/question';
import { useMay } from '../../shared/rights/use-may';
import { dateOf, exactTime, RelativeTime, useNow } from '../../shared/time';
import list from '../../shared/list-screen.module.css';
import styles from './admin.module.css';
import { AdminPage } from './admin-page';
import { readAdminSearch } from './admin-search';
import { endToken, makeToken, tokensQuery } from './tokens-api';

const texts = adminTexts.tokens;
const LIFETIMES = ['24h', '30 days', '90 days', '365 days'] as const;

export function TokensScreen(): ReactNode {
  const { page: pageNumber } = useSearch({ from: '/admin/tokens' });
  const navigate = useNavigate({ from: '/admin/tokens' });
  const queries = useQueryClient();
  const now = useNow(30_000);
  const [isCreating, creating] = useDisclosure(false);
  const why = useMay('createToken');
  const { data: page, error, refetch } = useQuery(tokensQuery(pageNumber));
  const columns = useMemo(
    () =>
      columnsAt(now, async (id) => {
        await endToken(id);
        await queries.invalidateQueries({ queryKey: ['tokens'] });
      }),
    [now, queries],
  );
  const create = (
    <ActionButton why={why} leftSection={<Icon name="plus" size={14} />} onClick={creating.open}>
      {texts.create}
    </ActionButton>
  );
  return (
    <AdminPage section="tokens" actions={create}>
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {page && page.data.length > 0 && (
        <DataTable
          label={adminTexts.sections.tokens}
          columns={columns}
          rows={page.data}
          total={page.result_set.total_objects}
          keyOf={({ token_id: id }) => id}
        />
      )}
      {page?.data.length === 0 && (
        <EmptyState icon="key" title={texts.emptyTitle} hint={texts.emptyHint} example={texts.emptyExample}>
          {create}
        </EmptyState>
      )}
      <Pager
        of={page?.result_set}
        onPage={(next) => void navigate({ search: (before) => readAdminSearch({ ...before, page: next }) })}
      />
      {isCreating && <CreateTokenDialog onClose={creating.close} />}
    </AdminPage>
  );
}

function CreateTokenDialog({ onClose }: { onClose: () => void }): ReactNode {
  const queries = useQueryClient();
  const [description, setDescription] = useState('');
  const [lifetime, setLifetime] = useState<string>('30 days');
  const [token, setToken] = useState<string | null>(null);
  const create = async () => {
    setToken((await makeToken(description, lifetime)).token);
    await queries.invalidateQueries({ queryKey: ['tokens'] });
  };
  if (token !== null) {
    return (
      <Modal opened onClose={onClose} title={texts.create} centered closeOnClickOutside={false} closeOnEscape={false}>
        <div className={styles['stack']}>
          <p>{texts.once}</p>
          <div className={styles['secret']}>
            <span>{token}</span>
            <CopyButton text={token} />
          </div>
          <div className={styles['answers']}>
            <Button onClick={onClose}>{texts.done}</Button>
          </div>
        </div>
      </Modal>
    );
  }
  return (
    <Question title={texts.create} confirm={texts.create} act={create} onClose={onClose} onDone={() => undefined}>
      <TextInput
        label={texts.description}
        value={description}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
        maxLength={1000}
        data-autofocus
      />
      <div className={styles['block']}>
        <span className={styles['plain']}>{texts.lifetime}</span>
        <SegmentedControl
          size="xs"
          aria-label={texts.lifetime}
          data={LIFETIMES.map((value) => ({ value, label: texts.lifetimes[value] }))}
          value={lifetime}
          onChange={setLifetime}
        />
      </div>
    </Question>
  );
}

function isUsable({ to_date: end, expires_at: expiry }: TokenRead, now: number): boolean {
  const [ended, expires] = [dateOf(end), dateOf(expiry)];
  return (ended === null || ended.getTime() > now) && (expires === null || expires.getTime() > now);
}

function columnsAt(now: number, end: (id: number) => Promise<void>): Column<TokenRead>[] {
  return [
    {
      id: 'what',
      header: texts.columns.what,
      width: 'minmax(220px, 2fr)',
      cell: ({ token_id: id, description }) => (
        <>
          <span className={styles['plain']}>{description ?? texts.unnamed}</span>{' '}
          <span className={list['soft']}>#{id}</span>
        </>
      ),
    },
    {
      id: 'state',
      header: texts.columns.state,
      width: '120px',
      cell: (token) => (
        <span className={styles['outcome']} data-outcome={isUsable(token, now) ? 'done' : 'refused'}>
          <Icon name={isUsable(token, now) ? 'done' : 'killed'} />
          {isUsable(token, now) ? texts.active : texts.ended}
        </span>
      ),
    },
    {
      id: 'created',
      header: texts.columns.created,
      width: '130px',
      align: 'end',
      cell: ({ from_date: at }) => <RelativeTime at={at} now={now} />,
    },
    {
      id: 'used',
      header: texts.columns.used,
      width: '130px',
      align: 'end',
      cell: ({ last_used_at: at }) => (at === null ? texts.never : <RelativeTime at={at} now={now} />),
    },
    {
      id: 'expires',
      header: texts.columns.expires,
      width: '230px',
      align: 'end',
      cell: ({ expires_at: at }) => {
        const date = dateOf(at);
        return date ? exactTime(date) : texts.never;
      },
    },
    {
      id: 'action',
      header: commonTexts.actions,
      width: '104px',
      align: 'end',
      cell: (token) =>
        isUsable(token, now) && (
          <Confirm
            action={texts.revoke}
            label={`${texts.revoke} ${token.description ?? `#${token.token_id}`}`}
            question={texts.revokeTitle}
            consequence={texts.revokeHint}
            run={() => end(token.token_id)}
          />
        ),
    },
  ];
}
