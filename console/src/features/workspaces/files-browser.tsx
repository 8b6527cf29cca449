import { FileButton } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { WorkspaceFileRead } from 'managed-spark/types';
import { type DragEvent, type ReactNode, useEffect, useMemo, useState } from 'react';
import { ActionButton } from '../../shared/action-button';
import { type Column, DataTable, type Sorting } from '../../shared/data-table';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import { ProblemPanel } from '../../shared/problem-panel';
import type { Reason } from '../../shared/rights/rights';
import { useMay } from '../../shared/rights/use-may';
import { SearchField } from '../../shared/search-field';
import { bytes, number, texts } from '../../shared/texts';
import { RelativeTime, useNow } from '../../shared/time';
import { FileActions, type FileReasons } from './file-actions';
import { type AskedOfFile, FileQuestion } from './file-question';
import { fileQuery, filesQuery, MAX_ENTRIES } from './files-api';
import { cleanPath, foldersOf, joined, nameOf } from './paths';
import { UploadPanel } from './upload-panel';
import { chosenFiles, droppedFiles, MAX_UPLOADS, uploads } from './uploads';
import { readWorkspaceSearch } from './workspaces-search';
import list from '../../shared/list-screen.module.css';
import styles from './workspaces.module.css';

/** Files that arrive within this time are shown together. */
const REFRESH_DELAY_MS = 400;

const t = texts.workspaces.files;

/** The files of a workspace, folder by folder. */
export function FilesBrowser({ workspaceId }: { workspaceId: number }): ReactNode {
  const { folder: given = '', q = '' } = useSearch({ from: '/workspaces/$workspaceId' });
  const folder = cleanPath(given);
  const now = useNow(10_000);
  const { data: listing, error, refetch } = useQuery(filesQuery(workspaceId, folder, q));
  const [asked, setAsked] = useState<AskedOfFile | null>(null);
  const [sorting, setSorting] = useState<Sorting>({ by: 'name', order: 'asc' });
  const rows = useMemo(() => listing && sorted(listing.files, sorting), [listing, sorting]);
  const change = useMay(['uploadWorkspaceFile', 'moveWorkspaceFile', 'deleteWorkspaceFile'], workspaceId);
  const run = useMay('createJob', workspaceId);
  const columns = useMemo(
    () => columnsAt({ now, workspaceId, isSearch: q !== '', ask: setAsked, why: { run, change } }),
    [now, workspaceId, q, run, change],
  );
  const drop = useDrop(workspaceId, folder, change);
  return (
    <div className={styles['browser']} {...drop.handlers}>
      <Toolbar
        key={folder}
        workspaceId={workspaceId}
        folder={folder}
        q={q}
        take={drop.take}
        ask={setAsked}
        why={change}
      >
        {listing && <span className={list['count']}>{t.count(number(listing.files.length))}</span>}
      </Toolbar>
      <UploadPanel workspaceId={workspaceId} />
      {drop.isCut && <p role="alert">{texts.workspaces.uploads.tooMany(number(MAX_UPLOADS))}</p>}
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      {rows?.length === 0 && <NoFiles workspaceId={workspaceId} folder={folder} q={q} />}
      {rows && rows.length > 0 && (
        <DataTable
          label={t.label}
          columns={columns}
          rows={rows}
          keyOf={({ workspace_file_id: id }) => id}
          sorting={sorting}
          onSort={setSorting}
        />
      )}
      {listing?.isCut && <p className={list['faint']}>{t.cut(number(Math.min(listing.files.length, MAX_ENTRIES)))}</p>}
      {drop.isOver && (
        <div className={styles['drop']}>
          <Icon name="toStart" size={28} />
          {t.drop} {folder === '' ? t.root : folder}
        </div>
      )}
      {asked && <FileQuestion workspaceId={workspaceId} asked={asked} onClose={() => setAsked(null)} />}
    </div>
  );
}

interface ToolbarProps {
  workspaceId: number;
  folder: string;
  q: string;
  take: (files: readonly { path: string; file: File }[]) => void;
  ask: (asked: AskedOfFile) => void;
  why: Reason;
  children: ReactNode;
}

function Toolbar({ workspaceId, folder, q, take, ask, why, children }: ToolbarProps): ReactNode {
  const navigate = useNavigate({ from: '/workspaces/$workspaceId' });
  const above = foldersOf(folder);
  return (
    <>
      <div className={list['filters']} role="search">
        <SearchField
          label={t.search}
          value={q}
          onChange={(typed) =>
            void navigate({ search: (before) => readWorkspaceSearch({ ...before, q: typed }), replace: true })
          }
        />
        <FileButton multiple onChange={(files) => take(files.map((file) => ({ path: file.name, file })))}>
          {(props) => (
            <ActionButton {...props} why={why} leftSection={<Icon name="toStart" size={14} />}>
              {t.upload}
            </ActionButton>
          )}
        </FileButton>
        <ActionButton why={why} variant="default" onClick={() => ask({ what: 'file', folder })}>
          {t.file}
        </ActionButton>
        <ActionButton why={why} variant="default" onClick={() => ask({ what: 'folder', folder })}>
          {t.folder}
        </ActionButton>
        {children}
      </div>
      {above.length > 0 && (
        <nav className={styles['folders']} aria-label={t.label}>
          <Link to="/workspaces/$workspaceId" params={{ workspaceId }}>
            {t.root}
          </Link>
          {above.map(({ name: shown, path }) => (
            <FolderStep key={path} workspaceId={workspaceId} name={shown} path={path} isLast={path === folder} />
          ))}
        </nav>
      )}
    </>
  );
}

interface FolderStepProps {
  workspaceId: number;
  name: string;
  path: string;
  isLast: boolean;
}

function FolderStep({ workspaceId, name, path, isLast }: FolderStepProps): ReactNode {
  return (
    <>
      <Icon name="chevronRight" size={12} />
      {isLast ? (
        <span aria-current="page">{name}</span>
      ) : (
        <Link to="/workspaces/$workspaceId" params={{ workspaceId }} search={{ folder: path }}>
          {name}
        </Link>
      )}
    </>
  );
}

function NoFiles({ workspaceId, folder, q }: { workspaceId: number; folder: string; q: string }): ReactNode {
  // A folder that does not exist is listed like one that is empty.
  const { error } = useQuery({ ...fileQuery(workspaceId, folder), enabled: folder !== '' });
  if (error) return <ProblemPanel error={error} />;
  return q === '' ? (
    <EmptyState icon="folder" title={folder === '' ? t.emptyRoot : t.empty} hint={t.emptyHint} />
  ) : (
    <EmptyState icon="search" title={t.noneFound} hint={t.noneFoundHint} />
  );
}

/** Takes files that are dropped anywhere on the list, if the user may upload any. */
function useDrop(workspaceId: number, folder: string, why: Reason) {
  const queries = useQueryClient();
  const [depth, setDepth] = useState(0);
  const [isCut, setIsCut] = useState(false);
  const refresh = useDebouncedCallback(
    () => void queries.invalidateQueries({ queryKey: ['files', workspaceId] }),
    REFRESH_DELAY_MS,
  );
  useEffect(() => {
    uploads.onDone = refresh;
    return () => {
      uploads.onDone = () => undefined;
    };
  }, [refresh]);
  const take = (files: readonly { path: string; file: File }[]) => {
    const placed = files.map(({ path, file }) => ({ path: joined(folder, path), file }));
    setIsCut(uploads.add(workspaceId, placed) < files.length);
  };
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files');
  const handlers = {
    onDragEnter: (event: DragEvent) => why === null && hasFiles(event) && setDepth((before) => before + 1),
    onDragLeave: (event: DragEvent) => hasFiles(event) && setDepth((before) => Math.max(0, before - 1)),
    onDragOver: (event: DragEvent) => {
      if (!hasFiles(event)) return;
      // Otherwise the browser would open the file in place of the console.
      event.preventDefault();
      if (why !== null) event.dataTransfer.dropEffect = 'none';
    },
    onDrop: (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setDepth(0);
      if (why !== null) return;
      const { dataTransfer } = event;
      void droppedFiles(dataTransfer).then(take, () => take(chosenFiles(dataTransfer.files)));
    },
  };
  return { handlers, take, isCut, isOver: depth > 0 };
}

/** Folders come first, whatever the order of the others. */
function sorted(files: readonly WorkspaceFileRead[], { by, order }: Sorting): WorkspaceFileRead[] {
  const names = new Intl.Collator('en', { numeric: true });
  const sign = order === 'asc' ? 1 : -1;
  const compare = (a: WorkspaceFileRead, b: WorkspaceFileRead) => {
    if (by === 'size') return (a.file_size_bytes ?? 0) - (b.file_size_bytes ?? 0);
    if (by === 'changed') return a.last_update_date < b.last_update_date ? -1 : 1;
    return names.compare(a.full_file_path, b.full_file_path);
  };
  return files.toSorted((a, b) => Number(b.is_dir) - Number(a.is_dir) || sign * compare(a, b));
}

interface ColumnContext {
  now: number;
  workspaceId: number;
  isSearch: boolean;
  ask: (asked: AskedOfFile) => void;
  why: FileReasons;
}

function columnsAt({ now, workspaceId, isSearch, ask, why }: ColumnContext): Column<WorkspaceFileRead>[] {
  return [
    {
      id: 'name',
      header: t.columns.name,
      width: 'minmax(260px, 3fr)',
      isSortable: true,
      cell: (file) => <FileName workspaceId={workspaceId} file={file} isSearch={isSearch} />,
    },
    {
      id: 'by',
      header: t.columns.by,
      width: 'minmax(90px, 0.8fr)',
      cell: ({ modified_by: by }) => <span className={list['soft']}>{by?.username ?? texts.time.never}</span>,
    },
    {
      id: 'size',
      header: t.columns.size,
      width: '110px',
      align: 'end',
      isSortable: true,
      cell: ({ is_dir: isFolder, file_size_bytes: size }) => (isFolder ? '' : bytes(size ?? 0)),
    },
    {
      id: 'changed',
      header: t.columns.changed,
      width: '120px',
      align: 'end',
      isSortable: true,
      cell: ({ last_update_date: at }) => <RelativeTime at={at} now={now} />,
    },
    {
      id: 'actions',
      header: texts.workspaces.actions,
      width: '132px',
      align: 'end',
      cell: (file) => <FileActions workspaceId={workspaceId} file={file} ask={ask} why={why} />,
    },
  ];
}

function FileName({
  workspaceId,
  file,
  isSearch,
}: Omit<ColumnContext, 'now' | 'ask' | 'why'> & { file: WorkspaceFileRead }) {
  const path = cleanPath(file.full_file_path);
  const shown = isSearch ? path : nameOf(path);
  return (
    <span className={styles['entry']} data-kind={file.is_dir ? 'folder' : 'file'}>
      <Icon name={file.is_dir ? 'folder' : 'file'} />
      {file.is_dir ? (
        <Link
          to="/workspaces/$workspaceId"
          params={{ workspaceId }}
          search={{ folder: path }}
          className={`${list['name']} ${styles['entryName']}`}
        >
          {shown}
        </Link>
      ) : (
        <Link
          to="/workspaces/$workspaceId/file"
          params={{ workspaceId }}
          search={{ path }}
          className={`${list['name']} ${styles['entryName']}`}
        >
          {shown}
        </Link>
      )}
    </span>
  );
}
