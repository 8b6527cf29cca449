import { Button, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { BrowseTableDetails } from 'managed-spark/types';
import { type ReactNode, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { ActionButton } from '../../shared/action-button';
import { commonTexts } from '../../shared/common-texts';
import { CopyButton } from '../../shared/copy-button';
import { type Column, DataTable } from '../../shared/data-table';
import { dataTexts as t } from '../../shared/data-texts';
import { EmptyState } from '../../shared/empty-state';
import { type Fact, Facts } from '../../shared/facts';
import { Icon } from '../../shared/icons';
import list from '../../shared/list-screen.module.css';
import { ProblemPanel } from '../../shared/problem-panel';
import { usableClustersQuery } from '../../shared/records';
import { useMay } from '../../shared/rights/use-may';
import { SearchField } from '../../shared/search-field';
import { ServerChoice, ServerState } from '../../shared/sql/server-choice';
import { type SessionStore, SqlRunner } from '../../shared/sql/sql-runner';
import type { ServerKey } from '../../shared/sql/sql-servers';
import { StatementResult } from '../../shared/sql/statement-result';
import { sqlTexts } from '../../shared/sql-texts';
import tabs from '../../shared/tabs.module.css';
import { exactTime } from '../../shared/time';
import { ddlQuery, type TableKey, tableQuery } from './data-api';
import { type DataSearch, TABLE_TABS, type TableTab } from './data-search';
import { Kind } from './table-list';
import styles from './table-panel.module.css';

const PREVIEW_ROWS = 200;

interface TablePanelProps {
  of: TableKey;
  tab: TableTab;
  server: number | undefined;
  onChange: (part: DataSearch) => void;
}

/** One table: its columns, some rows, its properties, and the statement that creates it. */
export function TablePanel({ of, tab, server, onChange }: TablePanelProps): ReactNode {
  const { data: table, error, refetch } = useQuery(tableQuery(of));
  if (error) return <ProblemPanel error={error} onRetry={() => void refetch()} />;
  if (!table) return null;
  return (
    <>
      <p className={styles['name']}>
        <Kind type={table.type} />
        <code className="mono">{table.full_name}</code>
        <CopyButton text={table.full_name} />
        {table.comment !== null && <span className={list['soft']}>{table.comment}</span>}
      </p>
      <Tabs
        value={tab}
        onChange={(value) => onChange({ tab: TABLE_TABS.find((one) => one === value) ?? 'columns' })}
        className={tabs['tabs']}
        classNames={{ panel: tabs['panel'] }}
        keepMounted={false}
      >
        <Tabs.List>
          {TABLE_TABS.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {t.tabs[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="columns">
          <Columns table={table} />
        </Tabs.Panel>
        <Tabs.Panel value="preview">
          <Preview of={of} fullName={table.full_name} server={server} onChange={onChange} />
        </Tabs.Panel>
        <Tabs.Panel value="properties">
          <Properties table={table} />
        </Tabs.Panel>
        <Tabs.Panel value="ddl">
          <Ddl of={of} fullName={table.full_name} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

type TableColumn = BrowseTableDetails['columns'][number];

const COLUMNS: readonly Column<TableColumn>[] = [
  {
    id: 'position',
    header: t.column.position,
    width: '56px',
    align: 'end',
    cell: ({ position }) => <span className={list['faint']}>{position + 1}</span>,
  },
  {
    id: 'name',
    header: t.column.name,
    width: 'minmax(160px, 1.2fr)',
    cell: ({ name, type }) => (
      <>
        <span className={list['name']}>{name}</span>
        {type === 'partition' && <span className={styles['partition']}>{t.column.partition}</span>}
      </>
    ),
  },
  {
    id: 'type',
    header: t.column.type,
    width: 'minmax(140px, 1.4fr)',
    cell: ({ type_text: type }) => (
      <code className="mono" title={type}>
        {type}
      </code>
    ),
  },
  {
    id: 'null',
    header: t.column.null,
    width: '70px',
    cell: ({ nullable }) => <span className={list['soft']}>{nullable ? t.mayBeNull : t.isNotNull}</span>,
  },
  {
    id: 'comment',
    header: t.column.comment,
    width: 'minmax(160px, 2fr)',
    cell: ({ comment }) => (
      <span className={list['soft']} title={comment ?? undefined}>
        {comment}
      </span>
    ),
  },
];

function Columns({ table }: { table: BrowseTableDetails }): ReactNode {
  const [q, setQ] = useState('');
  const rows = useMemo(() => {
    const text = q.toLowerCase();
    return table.columns.filter(({ name, comment }) => `${name} ${comment ?? ''}`.toLowerCase().includes(text));
  }, [table, q]);
  return (
    <>
      <div className={list['filters']} role="search">
        <SearchField label={t.searchColumns} value={q} delayMs={0} onChange={(text) => setQ(text ?? '')} />
      </div>
      <DataTable label={t.tabs.columns} columns={COLUMNS} rows={rows} keyOf={({ position }) => position} />
    </>
  );
}

function Properties({ table }: { table: BrowseTableDetails }): ReactNode {
  const at = (time: number | null) => (time === null ? null : exactTime(new Date(time)));
  const facts: Fact[] = [
    { label: t.facts.fullName, value: table.full_name, isCode: true },
    { label: t.facts.format, value: table.format },
    { label: t.facts.location, value: table.storage_location, isCode: true },
    { label: t.facts.owner, value: table.owner },
    { label: t.facts.created, value: [at(table.created_at), table.created_by].filter((one) => one !== null) },
    { label: t.facts.changed, value: [at(table.updated_at), table.updated_by].filter((one) => one !== null) },
    { label: t.facts.comment, value: table.comment },
  ];
  const properties = Object.entries(table.properties).sort(([a], [b]) => a.localeCompare(b));
  return (
    <div className={styles['properties']}>
      <Facts facts={facts} />
      {properties.length === 0 ? (
        <p className={list['faint']}>{t.noProperties}</p>
      ) : (
        <Facts facts={properties.map(([label, value]) => ({ label, value, isCode: true }))} />
      )}
    </div>
  );
}

function Ddl({ of, fullName }: { of: TableKey; fullName: string }): ReactNode {
  const { data: ddl, error } = useQuery(ddlQuery(of, fullName));
  if (error) return <ProblemPanel error={error} />;
  if (ddl === undefined) return null;
  return (
    <div className={styles['ddl']}>
      <pre tabIndex={0} aria-label={t.tabs.ddl}>
        {ddl}
      </pre>
      <CopyButton text={ddl} />
    </div>
  );
}

/** Previews of a server share a session, until the page is loaded again. */
const sessions = new Map<string, string>();
const keyOf = ({ workspaceId, jobId }: ServerKey) => `${workspaceId} ${jobId}`;
const SESSIONS: SessionStore = {
  get: (server) => sessions.get(keyOf(server)) ?? null,
  set: (server, handle) => {
    if (handle === null) sessions.delete(keyOf(server));
    else sessions.set(keyOf(server), handle);
  },
};

interface PreviewProps extends Omit<TablePanelProps, 'tab'> {
  fullName: string;
}

function Preview({ of, fullName, server, onChange }: PreviewProps): ReactNode {
  const { workspaceId, metastoreId } = of;
  const { data: clusters } = useQuery(usableClustersQuery);
  const unable = useMay('thriftSql', workspaceId);
  const [runner] = useState(() => new SqlRunner(SESSIONS));
  const { isRunning, executions, rowsVersion } = useSyncExternalStore(runner.subscribe, runner.state);
  useEffect(() => () => runner.dispose(), [runner]);
  const [execution] = executions;
  if (!clusters) return null;
  if (!clusters.some(({ metastore_catalog: catalog }) => catalog?.metastore_catalog_id === metastoreId)) {
    return <EmptyState icon="clusters" title={t.noCluster} hint={t.noClusterHint} />;
  }
  const show = () => {
    const text = `select * from ${fullName} limit ${PREVIEW_ROWS}`;
    if (server !== undefined) void runner.run({ workspaceId, jobId: server }, [{ text, from: 0 }]);
  };
  return (
    <>
      <div className={list['filters']}>
        <ServerChoice
          workspaceId={workspaceId}
          metastoreId={metastoreId}
          selected={server}
          onChange={(chosen) => onChange({ server: chosen })}
        />
        {isRunning ? (
          <Button variant="default" leftSection={<Icon name="stop" size={14} />} onClick={() => void runner.cancel()}>
            {sqlTexts.cancel}
          </Button>
        ) : (
          <ActionButton
            why={unable ?? (server === undefined ? commonTexts.reasons.noServer : null)}
            leftSection={<Icon name="play" size={14} />}
            onClick={show}
          >
            {t.preview}
          </ActionButton>
        )}
        <ServerState workspaceId={workspaceId} selected={server} onChange={(chosen) => onChange({ server: chosen })} />
      </div>
      {!execution && <p className={list['faint']}>{t.previewHint(PREVIEW_ROWS)}</p>}
      {execution && execution.state !== 'done' && (
        <p className={list['soft']} role="status">
          {sqlTexts.states[execution.state]}
        </p>
      )}
      {execution && ['done', 'failed'].includes(execution.state) && (
        <StatementResult runner={runner} execution={execution} version={rowsVersion} fileName={of.table} />
      )}
    </>
  );
}
