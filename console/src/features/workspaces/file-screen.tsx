import { Button } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useBlocker, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { WorkspaceFileRead } from 'managed-spark/types';
import { lazy, type ReactNode, Suspense, useCallback, useRef, useState } from 'react';
import { ActionButton } from '../../shared/action-button';
import { commonTexts } from '../../shared/common-texts';
import { EmptyState } from '../../shared/empty-state';
import { Icon } from '../../shared/icons';
import { languageOf } from '../../shared/jobs/job-fields';
import { runAgainById } from '../../shared/jobs/run-again';
import { Page } from '../../shared/page';
import { ProblemPanel } from '../../shared/problem-panel';
import type { Reason } from '../../shared/rights/rights';
import { useMay } from '../../shared/rights/use-may';
import { bytes, texts } from '../../shared/texts';
import { RelativeTime, useNow } from '../../shared/time';
import styles from './file-screen.module.css';
import { changedSince, downloadUrl, MAX_EDITED_BYTES, saveText, textQuery } from './files-api';
import { cleanPath, foldersOf, nameOf, parentOf } from './paths';
import { RunFile } from './run-file';
import { WorkspaceTrail } from './workspace-screen';

const CodeEditor = lazy(() => import('./code-editor').then(({ CodeEditor: component }) => ({ default: component })));

const t = texts.workspaces.editor;
const { reasons } = commonTexts;

export function FileScreen(): ReactNode {
  const { workspaceId } = useParams({ from: '/workspaces/$workspaceId/file' });
  const { path: given = '', again } = useSearch({ from: '/workspaces/$workspaceId/file' });
  const path = cleanPath(given);
  const { data, error, refetch } = useQuery(textQuery(workspaceId, path));
  const trail = <FileTrail workspaceId={workspaceId} path={path} />;
  if (error) {
    return (
      <Page title={nameOf(path)} trail={trail}>
        <ProblemPanel error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  if (!data) return null;
  if (data.text === null) return <NoText workspaceId={workspaceId} file={data.file} trail={trail} />;
  return (
    <Editing
      key={`${path} ${data.file.last_update_date}`}
      workspaceId={workspaceId}
      path={path}
      file={data.file}
      text={data.text}
      again={again}
      trail={trail}
    />
  );
}

function FileTrail({ workspaceId, path }: { workspaceId: number; path: string }): ReactNode {
  return (
    <WorkspaceTrail workspaceId={workspaceId}>
      {foldersOf(parentOf(path)).map(({ name, path: folder }) => (
        <span key={folder} className={styles['step']}>
          <Icon name="chevronRight" size={12} />
          <Link to="/workspaces/$workspaceId" params={{ workspaceId }} search={{ folder }}>
            {name}
          </Link>
        </span>
      ))}
    </WorkspaceTrail>
  );
}

interface NoTextProps {
  workspaceId: number;
  file: WorkspaceFileRead;
  trail: ReactNode;
}

function NoText({ workspaceId, file, trail }: NoTextProps): ReactNode {
  const size = file.file_size_bytes ?? 0;
  const isLarge = size > MAX_EDITED_BYTES;
  return (
    <Page title={file.file_name} trail={trail} subtitle={bytes(size)}>
      <EmptyState
        icon="file"
        title={isLarge ? t.tooLarge : t.binary}
        hint={isLarge ? t.tooLargeHint(bytes(size), bytes(MAX_EDITED_BYTES)) : t.binaryHint}
      >
        <Button
          component="a"
          href={downloadUrl(workspaceId, cleanPath(file.full_file_path))}
          download
          leftSection={<Icon name="download" size={14} />}
        >
          {texts.workspaces.files.download}
        </Button>
      </EmptyState>
    </Page>
  );
}

interface EditingProps extends NoTextProps {
  path: string;
  text: string;
  /** The run that is repeated with the changed file. */
  again: number | undefined;
}

function Editing({ workspaceId, path, file, text, again, trail }: EditingProps): ReactNode {
  const queries = useQueryClient();
  const now = useNow(10_000);
  const unsavable = useMay('uploadWorkspaceFile', workspaceId);
  const current = useRef(text);
  const [version, setVersion] = useState({ text, at: file.last_update_date, by: file.modified_by?.username });
  const [isChanged, setIsChanged] = useState(false);
  const [isRunning, setIsRunning] = useState(false);
  const save = useMutation({
    mutationFn: async (isForced: boolean) => {
      const sent = current.current;
      const at = await saveText(workspaceId, path, sent, isForced ? null : version.at);
      return { text: sent, at, by: undefined };
    },
    onSuccess: (saved) => {
      setVersion(saved);
      setIsChanged(current.current !== saved.text);
      void queries.invalidateQueries({ queryKey: ['files', workspaceId, 'list'] });
    },
  });
  const onChange = useCallback(
    (shown: string) => {
      current.current = shown;
      setIsChanged(shown !== version.text);
    },
    [version.text],
  );
  const { mutate, mutateAsync, isPending } = save;
  const onSave = useCallback(() => {
    if (unsavable === null && current.current !== version.text && !isPending) mutate(false);
  }, [mutate, isPending, version.text, unsavable]);
  useHotkeys([['mod+S', onSave]], []);
  useLeaving(isChanged);
  const isConflict = save.isError && changedSince(save.error);
  return (
    <Page
      title={nameOf(path)}
      trail={trail}
      subtitle={
        <>
          {isChanged ? t.unsaved : t.saved} <RelativeTime at={version.at} now={now} />
          {version.by && ` · ${version.by}`}
        </>
      }
      actions={
        <>
          <Button
            component="a"
            variant="default"
            href={downloadUrl(workspaceId, path)}
            download
            leftSection={<Icon name="download" size={14} />}
          >
            {texts.workspaces.files.download}
          </Button>
          <ActionButton
            why={whyNotSaved(unsavable, isChanged)}
            variant={isChanged ? 'filled' : 'default'}
            loading={isPending}
            onClick={onSave}
          >
            {t.save}
          </ActionButton>
          {again !== undefined && (
            <RunAgain
              workspaceId={workspaceId}
              runId={again}
              save={async () => {
                if (current.current !== version.text) await mutateAsync(false);
              }}
            />
          )}
          {again === undefined && languageOf(path) && (
            <Run workspaceId={workspaceId} isChanged={isChanged} onClick={() => setIsRunning(true)} />
          )}
        </>
      }
      fill
    >
      {isConflict && (
        <Conflict
          workspaceId={workspaceId}
          path={path}
          onMine={() => mutate(true)}
          onTheirs={() => {
            setIsChanged(false);
            void queries.resetQueries({ queryKey: textQuery(workspaceId, path).queryKey });
          }}
        />
      )}
      {save.isError && !isConflict && <ProblemPanel error={save.error} />}
      <div className={styles['editor']}>
        <Suspense>
          <CodeEditor label={t.label(nameOf(path))} path={path} text={text} onChange={onChange} onSave={onSave} />
        </Suspense>
      </div>
      <p className={styles['hint']}>{t.keyHint}</p>
      {isRunning && <RunFile workspaceId={workspaceId} path={path} onClose={() => setIsRunning(false)} />}
    </Page>
  );
}

function whyNotSaved(unsavable: Reason, isChanged: boolean): Reason {
  return unsavable ?? (isChanged ? null : reasons.unchanged);
}

interface RunProps {
  workspaceId: number;
  isChanged: boolean;
  onClick: () => void;
}

/** Runs the file as it is saved. */
function Run({ workspaceId, isChanged, onClick }: RunProps): ReactNode {
  const unrunnable = useMay('createJob', workspaceId);
  return (
    <ActionButton
      why={unrunnable ?? (isChanged ? reasons.unsaved : null)}
      leftSection={<Icon name="play" size={14} />}
      onClick={onClick}
    >
      {texts.workspaces.files.run}
    </ActionButton>
  );
}

interface RunAgainProps {
  workspaceId: number;
  runId: number;
  save: () => Promise<void>;
}

/** Saves the file, and repeats the run for which it was opened. */
function RunAgain({ workspaceId, runId, save }: RunAgainProps): ReactNode {
  const navigate = useNavigate();
  const why = useMay(['uploadWorkspaceFile', 'createJob'], workspaceId);
  const again = useMutation({
    mutationFn: async () => {
      // An error of saving is shown by the screen.
      const isSaved = await save().then(
        () => true,
        () => false,
      );
      return isSaved ? runAgainById(workspaceId, runId) : null;
    },
    onSuccess: async (newRunId) => {
      if (newRunId === null) return;
      const params = { workspaceId, runId: newRunId };
      await navigate({ to: '/runs/$workspaceId/$runId', params, ignoreBlocker: true });
    },
  });
  return (
    <>
      <ActionButton
        why={why}
        leftSection={<Icon name="again" size={14} />}
        loading={again.isPending}
        onClick={() => again.mutate()}
      >
        {t.saveAndRunAgain}
      </ActionButton>
      {again.isError && <ProblemPanel error={again.error} />}
    </>
  );
}

interface ConflictProps {
  workspaceId: number;
  path: string;
  onMine: () => void;
  onTheirs: () => void;
}

/** Two people have changed the same file: who saves second decides, and sees who was first. */
function Conflict({ workspaceId, path, onMine, onTheirs }: ConflictProps): ReactNode {
  const { data: theirs, isError: isGone } = useQuery({
    ...textQuery(workspaceId, path),
    queryKey: ['files', workspaceId, 'conflict', path],
    staleTime: 0,
  });
  const now = useNow(10_000);
  const by = theirs?.file.modified_by?.username ?? t.somebody;
  return (
    <section className={styles['conflict']} role="alert">
      <Icon name="info" size={20} />
      <div className={styles['conflictText']}>
        <h2 className={styles['conflictTitle']}>{isGone ? t.gone : t.conflict}</h2>
        <p>
          {isGone
            ? t.goneHint
            : theirs && (
                <>
                  {t.conflictHint(by)} <RelativeTime at={theirs.file.last_update_date} now={now} />
                </>
              )}
        </p>
      </div>
      {!isGone && (
        <Button variant="default" onClick={onTheirs}>
          {t.theirs}
        </Button>
      )}
      <Button variant="default" onClick={onMine}>
        {isGone ? t.save : t.mine}
      </Button>
    </section>
  );
}

/** Asks before a screen or the page is left with changes. */
function useLeaving(isChanged: boolean): void {
  useBlocker({ shouldBlockFn: () => isChanged && !confirm(t.leave), enableBeforeUnload: isChanged });
}
