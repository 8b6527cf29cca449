import { Button, Menu } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useBlocker, useNavigate, useParams } from '@tanstack/react-router';
import type { NotebookConfRead, NotebookRead } from 'managed-spark/types';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { ActionButton, ActionItem } from '../../shared/action-button';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import { notebookTexts as t } from '../../shared/notebook-texts';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import { Question } from '../../shared/question';
import { workspaceQuery } from '../../shared/records';
import type { Reason } from '../../shared/rights/rights';
import { heldQuery } from '../../shared/rights/rights-api';
import { useMay } from '../../shared/rights/use-may';
import { CellView } from './cell-view';
import { KernelBadge, kernelLook, type KernelLook } from './kernel-badge';
import { KernelSession } from './kernel-session';
import { type Focused, NotebookActions } from './notebook-actions';
import { NotebookDocument } from './notebook-document';
import {
  callKernel,
  clearOutputs,
  exportUrl,
  instanceQuery,
  isUnfinished,
  type KernelCall,
  logUrl,
  type NotebookKey,
  notebookQuery,
  removeNotebook,
  startInstance,
} from './notebooks-api';
import { KernelNotice, TheirsNotice } from './notices';
import { useStore } from './store';
import styles from './notebook-screen.module.css';

/** The operations of users who do not change the notebook. */
const RUN_OPERATIONS = [
  'createNotebook',
  'interruptKernel',
  'restartKernel',
  'killNotebook',
  'updateNotebookCells',
] as const;

export function NotebookScreen(): ReactNode {
  const key = useParams({ from: '/notebooks/$workspaceId/$notebookConfId' });
  const { data: notebook, error, refetch } = useQuery(notebookQuery(key));
  const { isPending, error: unknown } = useQuery(heldQuery(key.workspaceId));
  const problem = error ?? unknown;
  if (problem) {
    return (
      <Page title={t.title} trail={<Link to="/notebooks">{t.title}</Link>}>
        <ProblemPanel error={problem} onRetry={() => void refetch()} />
      </Page>
    );
  }
  if (!notebook || isPending) return null;
  return <Notebook key={key.notebookConfId} of={key} notebook={notebook} />;
}

interface NotebookProps {
  of: NotebookKey;
  notebook: NotebookConfRead;
}

function Notebook({ of: key, notebook }: NotebookProps): ReactNode {
  const [focused, setFocused] = useState<Focused | null>(null);
  const { document, session } = useParts(key, notebook);
  const kernel = useKernel(key, session);
  const whyNotEdit = useMay(['createNotebookConf', 'deleteNotebookConf'], key.workspaceId);
  const whyNotRun = useMay(RUN_OPERATIONS, key.workspaceId);
  const canEdit = whyNotEdit === null;
  const canRun = whyNotRun === null;
  const latest = useRef({ canEdit, canRun, wantKernel: kernel.want });
  useEffect(() => {
    latest.current = { canEdit, canRun, wantKernel: kernel.want };
  });
  const [actions] = useState(
    () =>
      new NotebookActions({
        document,
        session,
        canEdit: () => latest.current.canEdit,
        canRun: () => latest.current.canRun,
        setFocus: (one) => setFocused((before) => (before?.id === one.id && before.part === one.part ? before : one)),
        wantKernel: () => latest.current.wantKernel(),
      }),
  );
  const { cells, saving, error, theirs, canUndo } = useStore(document);
  const { executions, connection, kernel: said } = useStore(session);
  const look = kernelLook(kernel.instance, said, connection === 'open');
  const theirsOf = useMemo(() => new Map(theirs?.changes.map(({ id, what }) => [id, what])), [theirs]);
  useBlocker({
    shouldBlockFn: () => saving !== 'saved' && canEdit && !confirm(t.leave),
    enableBeforeUnload: saving !== 'saved',
  });
  return (
    <Page
      title={notebook.notebook_name}
      trail={<Trail workspaceId={key.workspaceId} />}
      badge={<KernelBadge look={look} />}
      subtitle={
        <>
          {t.languages[notebook.notebook_type]} ·{' '}
          <Link to="/clusters/$clusterId" params={{ clusterId: notebook.cluster_id }}>
            {notebook.cluster_info.name}
          </Link>{' '}
          · {canEdit ? t[saving] : canRun ? t.runOnly : t.readOnly}
        </>
      }
      actions={
        <Toolbar
          of={key}
          notebook={notebook}
          look={look}
          kernel={kernel}
          whyNotEdit={whyNotEdit}
          whyNotRun={whyNotRun}
          isEmpty={cells.length === 0}
          onRunAll={() => void actions.runAll().catch(() => undefined)}
          onClear={async () => {
            await document.save();
            await clearOutputs(key, document.state.cells, document.revision);
            session.clearOutputs();
          }}
        />
      }
    >
      {error !== null && (
        <ProblemPanel error={error} title={t.notSaved} onRetry={() => void document.save().catch(() => undefined)} />
      )}
      {kernel.error !== null && <ProblemPanel error={kernel.error} />}
      {kernel.instance && (
        <KernelNotice look={look} instance={kernel.instance} whyNotRun={whyNotRun} onStart={kernel.want} />
      )}
      {theirs && <TheirsNotice {...theirs} onConfirm={() => document.confirmTheirs()} />}
      {cells.length === 0 && <EmptyState icon="notebook" title={t.empty} hint={t.emptyHint} />}
      <div className={styles['cells']}>
        {canEdit && <Inserter at={0} actions={actions} isOpen={cells.length === 0} />}
        {cells.map((cell, index) => (
          <div key={cell.id}>
            <CellView
              cell={cell}
              position={index + 1}
              of={cells.length}
              language={notebook.notebook_type}
              execution={executions[cell.id]}
              focus={focused?.id === cell.id ? focused.part : null}
              theirs={theirsOf.get(cell.id) ?? null}
              canEdit={canEdit}
              whyNotRun={whyNotRun}
              actions={actions}
            />
            {canEdit && <Inserter at={index + 1} actions={actions} isOpen={index === cells.length - 1} />}
          </div>
        ))}
      </div>
      {canUndo && (
        <p className={styles['undo']} role="status">
          {t.deleted}
          <Button variant="subtle" size="compact-sm" onClick={() => actions.undoRemove()}>
            {t.undo}
          </Button>
          <Button variant="subtle" color="gray" size="compact-sm" onClick={() => document.forgetRemoved()}>
            {t.dismiss}
          </Button>
        </p>
      )}
      {canEdit && <p className={styles['keys']}>{t.keys}</p>}
    </Page>
  );
}

function Trail({ workspaceId }: { workspaceId: number }): ReactNode {
  const { data: workspace } = useQuery(workspaceQuery(workspaceId));
  return (
    <>
      <Link to="/notebooks">{t.title}</Link>
      <Icon name="chevronRight" size={12} />
      <Link to="/notebooks" search={{ workspace: workspaceId }}>
        {workspace?.name ?? '…'}
      </Link>
    </>
  );
}

/** The document and the conversation with the kernel, for the life of the screen. */
function useParts(key: NotebookKey, notebook: NotebookConfRead) {
  const queries = useQueryClient();
  const [parts] = useState(() => ({
    document: new NotebookDocument(key, notebook),
    session: new KernelSession(key, () => void queries.invalidateQueries({ queryKey: ['session'] })),
  }));
  useEffect(() => {
    const { document, session } = parts;
    const unfollow = document.follow();
    void session.refresh();
    return () => {
      unfollow();
      session.dispose();
    };
  }, [parts]);
  return parts;
}

export interface Kernel {
  instance: NotebookRead | null;
  error: unknown;
  isChanging: boolean;
  /** Starts a kernel, or one that is dead again. */
  want: () => void;
  call: (call: KernelCall) => void;
}

/** The instance of the notebook; the session talks to its kernel while there is one. */
function useKernel(key: NotebookKey, session: KernelSession): Kernel {
  const queries = useQueryClient();
  const { data: instance = null, error } = useQuery(instanceQuery(key));
  const { workspaceId } = key;
  const isRunning = instance?.notebook_status === 'RUNNING';
  const isActive = instance !== null && isUnfinished(instance);
  const notebookId = instance?.notebook_id;
  useEffect(() => {
    session.use(isRunning && notebookId !== undefined ? { workspaceId, notebookId } : null);
  }, [session, isRunning, notebookId, workspaceId]);
  const wasActive = useRef(false);
  useEffect(() => {
    if (wasActive.current && !isActive) session.forgetExecutions();
    wasActive.current = isActive;
  }, [session, isActive]);
  const refresh = () => queries.invalidateQueries({ queryKey: instanceQuery(key).queryKey });
  const start = useMutation({ mutationFn: () => startInstance(key), onSettled: refresh });
  const change = useMutation({
    mutationFn: async (call: KernelCall) => {
      if (notebookId !== undefined) await callKernel(call, { workspaceId, notebookId });
    },
    onSettled: refresh,
  });
  return {
    instance,
    error: start.error ?? change.error ?? error,
    isChanging: start.isPending || change.isPending,
    want: () => {
      if (isActive && instance.kernel_info?.kernel_status === 'dead') change.mutate('revive');
      else if (!isActive && !start.isPending) start.mutate();
    },
    call: (call) => change.mutate(call),
  };
}

interface ToolbarProps {
  of: NotebookKey;
  notebook: NotebookConfRead;
  look: KernelLook;
  kernel: Kernel;
  whyNotEdit: Reason;
  whyNotRun: Reason;
  isEmpty: boolean;
  onRunAll: () => void;
  onClear: () => Promise<void>;
}

type Asked = 'restart' | 'stop' | 'remove';

function Toolbar(props: ToolbarProps): ReactNode {
  const { look, kernel, whyNotRun, isEmpty, onRunAll } = props;
  const [asked, setAsked] = useState<Asked | null>(null);
  const isUsable = look === 'idle' || look === 'busy' || look === 'starting';
  const isStopped = look === 'none' || look === 'ended';
  return (
    <>
      {look === 'busy' && (
        <ActionButton
          why={whyNotRun}
          variant="default"
          leftSection={<Icon name="stop" size={14} />}
          onClick={() => kernel.call('interrupt')}
        >
          {t.interrupt}
        </ActionButton>
      )}
      {isStopped ? (
        <ActionButton why={whyNotRun} variant="default" loading={kernel.isChanging} onClick={kernel.want}>
          {t.start}
        </ActionButton>
      ) : (
        <ActionButton
          why={whyNotRun ?? (isUsable ? null : t.whyNotRestarted)}
          variant="default"
          onClick={() => setAsked('restart')}
        >
          {t.restart}
        </ActionButton>
      )}
      <ActionButton
        why={whyNotRun ?? (isEmpty ? t.whyEmpty : null)}
        leftSection={<Icon name="play" size={14} />}
        onClick={onRunAll}
      >
        {t.runAll}
      </ActionButton>
      <MoreMenu {...props} onAsk={setAsked} isStopped={isStopped} />
      {asked && <Questions {...props} asked={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

function MoreMenu(props: ToolbarProps & { onAsk: (asked: Asked) => void; isStopped: boolean }): ReactNode {
  const { of: key, kernel, whyNotEdit, whyNotRun, onClear, onAsk, isStopped } = props;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" aria-label={t.more}>
          <Icon name="more" />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={exportUrl(key)} download leftSection={<Icon name="download" size={14} />}>
          {t.export}
        </Menu.Item>
        <ActionItem why={whyNotRun} onClick={() => void onClear()}>
          {t.clearOutputs}
        </ActionItem>
        {kernel.instance && (
          <Menu.Item component="a" href={logUrl(key, kernel.instance)} target="_blank" rel="noreferrer">
            {t.log}
          </Menu.Item>
        )}
        <Menu.Divider />
        <ActionItem why={whyNotRun ?? (isStopped ? t.whyStopped : null)} onClick={() => onAsk('stop')}>
          {t.stop}
        </ActionItem>
        <ActionItem why={whyNotEdit} color="var(--failed)" onClick={() => onAsk('remove')}>
          {t.remove}
        </ActionItem>
      </Menu.Dropdown>
    </Menu>
  );
}

function Questions(props: ToolbarProps & { asked: Asked; onClose: () => void }): ReactNode {
  const { of: key, notebook, kernel, asked, onClose } = props;
  const navigate = useNavigate();
  if (asked === 'remove') {
    const act = async () => {
      await removeNotebook(key);
      await navigate({ to: '/notebooks' });
    };
    return (
      <Question
        title={t.removeTitle(notebook.notebook_name)}
        confirm={t.removeConfirm}
        isDangerous
        act={act}
        onClose={onClose}
      >
        <p>{t.removeHint}</p>
      </Question>
    );
  }
  const act = async () => {
    await Promise.resolve();
    kernel.call(asked);
  };
  const [title, hint, confirm] =
    asked === 'stop' ? [t.stopTitle, t.stopHint, t.stop] : [t.restartTitle, t.restartHint, t.restart];
  return (
    <Question title={title} confirm={confirm} isDangerous act={act} onClose={onClose}>
      <p>{hint}</p>
    </Question>
  );
}

interface InserterProps {
  at: number;
  actions: NotebookActions;
  /** True if it shows without being pointed at. */
  isOpen: boolean;
}

function Inserter({ at, actions, isOpen }: InserterProps): ReactNode {
  return (
    <div className={styles['inserter']} data-open={isOpen || undefined}>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={<Icon name="plus" size={11} />}
        aria-label={t.addCodeLabel(at + 1)}
        onClick={() => actions.insert(at, 'code')}
      >
        {t.addCode}
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        leftSection={<Icon name="plus" size={11} />}
        aria-label={t.addTextLabel(at + 1)}
        onClick={() => actions.insert(at, 'markdown')}
      >
        {t.addText}
      </Button>
    </div>
  );
}
