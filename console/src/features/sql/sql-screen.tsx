import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import {
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { ActionButton } from '../../shared/action-button';
import { ChoiceFilter } from '../../shared/choice-filter';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { sessionQuery, workspacesQuery } from '../../shared/records';
import { useMay } from '../../shared/rights/use-may';
import { offsetOf } from '../../shared/sql/sql-error';
import { ServerChoice, ServerState } from '../../shared/sql/server-choice';
import { type Execution, type KeptExecution, SqlRunner } from '../../shared/sql/sql-runner';
import { splitSql, type SqlPart, statementAt } from '../../shared/sql/statements';
import { sqlTexts as t } from '../../shared/sql-texts';
import { ExecutionsPanel } from './executions-panel';
import type { EditorHandle } from './sql-editor';
import { HistoryDrawer } from './history-drawer';
import { SqlStorage } from './sql-storage';
import { readSqlSearch, type SqlSearch } from './sql-search';
import styles from './sql-screen.module.css';

/** Characters of a message that the history keeps. */
const MAX_KEPT_MESSAGE = 2_000;

const SqlEditor = lazy(() => import('./sql-editor').then(({ SqlEditor: component }) => ({ default: component })));

export function SqlScreen(): ReactNode {
  const { data: user } = useQuery(sessionQuery);
  const { data: workspaces, error, refetch } = useQuery(workspacesQuery('enabled'));
  if (error) {
    return (
      <Page title={t.title}>
        <ProblemPanel error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  if (!user || !workspaces) return null;
  if (workspaces.length === 0) {
    return (
      <Page title={t.title}>
        <EmptyState icon="folder" title={t.noWorkspace} hint={t.noWorkspaceHint} />
      </Page>
    );
  }
  const options = workspaces.map(({ workspace_id: value, name: label }) => ({ value, label }));
  return <Workbench key={user.user_id} userId={user.user_id} workspaces={options} />;
}

interface WorkbenchProps {
  userId: number;
  workspaces: readonly { value: number; label: string }[];
}

function Workbench({ userId, workspaces }: WorkbenchProps): ReactNode {
  const storage = useMemo(() => new SqlStorage(userId), [userId]);
  const search = useSearch({ from: '/sql' });
  const navigate = useNavigate({ from: '/sql' });
  const [runner] = useState(() => new SqlRunner(storage));
  const { isRunning, executions, rowsVersion } = useSyncExternalStore(runner.subscribe, runner.state);
  const editor = useRef<EditorHandle | null>(null);
  const serverButton = useRef<HTMLButtonElement>(null);
  const [isHistoryShown, setIsHistoryShown] = useState(false);
  const workspace = search.workspace ?? firstOf(workspaces, storage.place().workspaceId);
  const change = useCallback(
    (part: SqlSearch) => void navigate({ search: (before) => readSqlSearch({ ...before, ...part }), replace: true }),
    [navigate],
  );
  const { server } = search;
  useEffect(() => {
    // The address says where statements run, so that it can be passed on.
    const place = storage.place();
    if (search.workspace === undefined && workspace !== undefined) {
      change({ workspace, ...(place.workspaceId === workspace && { server: place.jobId }) });
    } else storage.setPlace({ workspaceId: workspace, jobId: server });
  }, [storage, search.workspace, workspace, server, change]);
  useEffect(() => () => runner.dispose(), [runner]);
  const why = useMay('thriftSql', workspace);
  const isKnown = useResumed({ runner, storage, query: search.query });
  useKept({ storage, query: search.query, executions });
  useMarks(editor, executions);

  const run = (all: boolean) => {
    if (workspace === undefined || isRunning || why !== null || !editor.current) return;
    if (server === undefined) {
      serverButton.current?.click();
      return;
    }
    const text = editor.current.text();
    const parts = chosenParts(editor.current, all);
    if (parts.length === 0) return;
    const query = newId();
    storage.keep({ id: query, at: Date.now(), workspaceId: workspace, jobId: server, text, executions: [] });
    change({ query });
    void runner.run({ workspaceId: workspace, jobId: server }, parts);
  };
  const choose = (to: number | null) => change({ workspace: to ?? undefined, server: undefined, query: undefined });
  return (
    <Page title={t.title} fill>
      <div className={styles['bar']}>
        <ChoiceFilter
          label={t.workspace}
          icon="folder"
          options={workspaces}
          selected={workspace ?? null}
          onChange={choose}
        />
        {workspace !== undefined && (
          <ServerChoice
            button={serverButton}
            workspaceId={workspace}
            selected={server}
            onChange={(chosen) => change({ server: chosen })}
          />
        )}
        <span className={styles['space']} />
        <Button
          variant="default"
          leftSection={<Icon name="waiting" size={14} />}
          onClick={() => setIsHistoryShown(true)}
        >
          {t.history}
        </Button>
        {isRunning ? (
          <Button
            variant="default"
            className={styles['cancel']}
            leftSection={<Icon name="stop" size={14} />}
            onClick={() => void runner.cancel()}
          >
            {t.cancel}
          </Button>
        ) : (
          <>
            <ActionButton why={why} variant="default" onClick={() => run(true)}>
              {t.runAll}
            </ActionButton>
            <ActionButton
              why={why}
              leftSection={<Icon name="play" size={14} />}

              onClick={() => run(false)}
            >
              {t.run}
            </ActionButton>
          </>
        )}
      </div>
      {workspace !== undefined && (
        <ServerState workspaceId={workspace} selected={server} onChange={(chosen) => change({ server: chosen })} />
      )}
      <div className={styles['editor']}>
        {workspace !== undefined && (
          <Suspense fallback={null}>
            <SqlEditor
              key={workspace}
              handle={editor}
              workspaceId={workspace}
              server={server}
              initial={textAtFirst(storage, workspace, search.query)}
              onChange={(text) => storage.setDraft(workspace, text)}
              onRun={run}
            />
          </Suspense>
        )}
      </div>
      <p className={styles['hint']}>{t.runHint}</p>
      {!isKnown && <p className={styles['hint']}>{t.unknownQuery}</p>}
      {executions.length === 0 ? (
        <EmptyState icon="play" title={t.startTitle} hint={t.startHint} />
      ) : (
        <ExecutionsPanel runner={runner} executions={executions} version={rowsVersion} />
      )}
      {isHistoryShown && (
        <HistoryDrawer
          storage={storage}
          onOpen={(kept) => {
            editor.current?.replace(kept.text);
            setIsHistoryShown(false);
          }}
          onClose={() => setIsHistoryShown(false)}
        />
      )}
    </Page>
  );
}

/** The draft comes first, since it may hold what was written after the statements of the address were run. */
function textAtFirst(storage: SqlStorage, workspace: number, query: string | undefined): string {
  return storage.draft(workspace) || (query === undefined ? '' : (storage.query(query)?.text ?? ''));
}

function firstOf(workspaces: WorkbenchProps['workspaces'], last: number | undefined): number | undefined {
  return (workspaces.find(({ value }) => value === last) ?? workspaces[0])?.value;
}

function chosenParts(editor: EditorHandle, all: boolean): SqlPart[] {
  const selected = editor.selection();
  if (selected) return splitSql(selected.text).map(({ text, from }) => ({ text, from: from + selected.from }));
  const parts = splitSql(editor.text());
  if (all) return parts;
  const one = statementAt(parts, editor.cursor());
  return one ? [one] : [];
}

interface Resumed {
  runner: SqlRunner;
  storage: SqlStorage;
  query: string | undefined;
}

/** Shows the statements that the address names, if this browser has run them. Returns false if it has not. */
function useResumed({ runner, storage, query }: Resumed): boolean {
  const [first] = useState(query);
  const kept = useMemo(() => (first === undefined ? undefined : storage.query(first)), [storage, first]);
  useEffect(() => {
    if (!kept || runner.state().executions.length > 0) return;
    void runner.resume({ workspaceId: kept.workspaceId, jobId: kept.jobId }, kept.executions);
  }, [runner, kept]);
  return first === undefined || first !== query || kept !== undefined;
}

interface Kept {
  storage: SqlStorage;
  query: string | undefined;
  executions: readonly Execution[];
}

/** Keeps the states of the statements in the history. */
function useKept({ storage, query, executions }: Kept): void {
  useEffect(() => {
    const known = query === undefined ? undefined : storage.query(query);
    if (!known || executions.length === 0) return;
    storage.keep({ ...known, executions: executions.map(keptOf) });
  }, [storage, query, executions]);
}

/** A request that is lost, as when the page is left, says nothing of its statement, which is looked at again later. */
function keptOf({ text, from, state, startedAt, tookMs, problem, error, handle }: Execution): KeptExecution {
  const isLost = error !== null && handle !== null;
  const short = problem && { ...problem, whole: problem.whole.slice(0, MAX_KEPT_MESSAGE) };
  return { text, from, state: isLost ? 'running' : state, startedAt, tookMs, problem: short, handle };
}

/** Marks the places of failures in the text, as long as it still is where the statement was. */
function useMarks(editor: { current: EditorHandle | null }, executions: readonly Execution[]): void {
  useEffect(() => {
    const text = editor.current?.text() ?? '';
    const marks = executions.flatMap(({ from, text: statement, problem }) => {
      if (!problem || text.slice(from, from + statement.length) !== statement) return [];
      const at = problem.place ? offsetOf(statement, problem.place) : 0;
      const word = /^[\p{L}\p{N}_.]+/u.exec(statement.slice(at))?.[0].length ?? 1;
      const to = problem.place ? at + word : statement.length;
      return [{ from: from + at, to: from + to, message: problem.message }];
    });
    editor.current?.mark(marks);
  }, [editor, executions]);
}

function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
