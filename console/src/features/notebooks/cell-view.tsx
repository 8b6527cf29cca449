import { Loader } from '@mantine/core';
import type { NotebookType } from 'managed-spark/types';
import { lazy, memo, type KeyboardEvent, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { IconAction } from '../../shared/action-button';
import { Icon, type IconName } from '../../shared/icons';
import { notebookTexts as t } from '../../shared/notebook-texts';
import type { Reason } from '../../shared/rights/rights';
import { durationText, useNow } from '../../shared/time';
import type { Cell } from './cells';
import type { TheirChange } from './merge-cells';
import type { NotebookActions } from './notebook-actions';
import { type Execution, NOT_EXECUTED } from './outputs';
import { OutputsView } from './outputs-view';
import styles from './cell-view.module.css';

const CellEditor = lazy(async () => ({ default: (await import('./cell-editor')).CellEditor }));
const MarkdownView = lazy(async () => ({ default: (await import('./markdown-view')).MarkdownView }));

/** Cells so far outside of the window get their editor before they are seen. */
const EDITOR_MARGIN = '800px';

export type Focus = 'cell' | 'editor' | null;

interface CellViewProps {
  cell: Cell;
  position: number;
  of: number;
  language: NotebookType;
  execution?: Execution | undefined;
  /** The part that has, or gets, the focus. */
  focus: Focus;
  theirs: TheirChange['what'] | null;
  canEdit: boolean;
  /** Says why the user may not run it; null if they may. */
  whyNotRun: Reason;
  actions: NotebookActions;
}

/** A cell: its source, what it printed, and what can be done with it. */
export const CellView = memo(function CellView(props: CellViewProps): ReactNode {
  const { cell, position, of, execution = NOT_EXECUTED, focus, theirs, actions } = props;
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (focus === 'cell') place.current?.focus();
  }, [focus]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target === place.current && actions.onKey(cell, event)) event.preventDefault();
  };
  return (
    <section
      ref={place}
      id={`cell-${cell.id}`}
      className={styles['cell']}
      data-type={cell.type}
      data-state={execution.state}
      data-theirs={theirs ?? undefined}
      aria-label={t.cell(position, of, t.types[cell.type])}
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onFocus={({ target }) => actions.onFocus(cell.id, target === place.current ? 'cell' : 'editor')}
    >
      <Margin {...props} />
      <div className={styles['main']}>
        {theirs && <p className={styles['theirs']}>{theirs === 'both' ? t.bothMark : t.theirs}</p>}
        <Source {...props} />
        {cell.type === 'code' && execution.result === 'aborted' && <p className={styles['note']}>{t.aborted}</p>}
        {cell.type === 'code' && execution.outputs.length > 0 && (
          <OutputsView label={t.outputs(position)} outputs={execution.outputs} />
        )}
      </div>
      {props.canEdit && <Tools {...props} />}
    </section>
  );
});

/** The button that runs the cell, with the number and the time of its execution. */
function Margin({ cell, execution = NOT_EXECUTED, whyNotRun, actions }: CellViewProps): ReactNode {
  if (cell.type !== 'code') return <div className={styles['margin']} />;
  const { state, count } = execution;
  return (
    <div className={styles['margin']}>
      {state === 'idle' ? (
        <IconAction
          why={whyNotRun}
          icon="play"
          iconSize={15}
          label={t.run}
          hint={t.runHint}
          onClick={() => actions.run(cell, 'stay')}
        />
      ) : (
        <span className={styles['busy']} role="img" aria-label={state === 'queued' ? t.queued : t.running}>
          {state === 'queued' ? <Icon name="waiting" size={15} /> : <Loader size={14} />}
        </span>
      )}
      <span className={styles['count']}>{state === 'idle' ? (count === null ? '' : `[${count}]`) : '[*]'}</span>
      <Duration execution={execution} />
    </div>
  );
}

function Duration({ execution: { startedAt, endedAt, state, result } }: { execution: Execution }): ReactNode {
  const now = useNow(state === 'running' ? 500 : 3_600_000);
  if (startedAt === null) return null;
  return (
    <span className={styles['duration']} data-result={state === 'idle' ? result : undefined}>
      {state === 'idle' && result !== null && <Icon name={result === 'ok' ? 'check' : 'close'} size={11} />}
      {durationText(Math.max(0, (endedAt ?? now) - startedAt))}
    </span>
  );
}

function Source(props: CellViewProps): ReactNode {
  const { cell, focus, canEdit, actions } = props;
  const [isNear, place] = useNear();
  const isRendered = cell.type === 'markdown' && (focus !== 'editor' || !canEdit);
  if (isRendered) {
    return (
      <div className={styles['text']} onDoubleClick={() => canEdit && actions.focus(cell.id, 'editor')}>
        {cell.source.trim() === '' ? (
          <p className={styles['note']}>{t.emptyText}</p>
        ) : (
          <Suspense fallback={<pre className={styles['plain']}>{cell.source}</pre>}>
            <MarkdownView text={cell.source} />
          </Suspense>
        )}
      </div>
    );
  }
  return (
    <div ref={place} className={styles['source']}>
      {isNear ? (
        <Suspense fallback={<pre className={styles['plain']}>{cell.source}</pre>}>
          <Editor {...props} />
        </Suspense>
      ) : (
        <pre className={styles['plain']}>{cell.source}</pre>
      )}
    </div>
  );
}

function Editor({ cell, position, language, focus, canEdit, actions }: CellViewProps): ReactNode {
  return (
    <CellEditor
      label={t.source(position)}
      language={cell.type === 'code' ? language : 'markdown'}
      text={cell.source}
      isReadOnly={!canEdit}
      hasFocus={focus === 'editor'}
      onChange={(source) => actions.edit(cell.id, { source })}
      onRun={(then) => actions.run(cell, then)}
      onLeave={() => actions.focus(cell.id, 'cell')}
      onStep={(by) => actions.step(cell.id, by, 'editor')}
      ask={actions.ask}
    />
  );
}

/** True once the element is near the window, for good: editors are dear, and a notebook may have hundreds. */
function useNear(): [boolean, (element: HTMLElement | null) => void] {
  const [isNear, setNear] = useState(false);
  const [element, setElement] = useState<HTMLElement | null>(null);
  useEffect(() => {
    if (!element || isNear) return undefined;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setNear(true),
      { rootMargin: EDITOR_MARGIN },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [element, isNear]);
  return [isNear, setElement];
}

function Tools({ cell, position, of, actions }: CellViewProps): ReactNode {
  const { id, type } = cell;
  const tools: { icon: IconName; label: string; why?: Reason; act: () => void }[] = [
    { icon: 'arrowUp', label: t.up, why: position === 1 ? t.whyFirst : null, act: () => actions.move(id, -1) },
    { icon: 'arrowDown', label: t.down, why: position === of ? t.whyLast : null, act: () => actions.move(id, 1) },
    type === 'code'
      ? { icon: 'book', label: t.toText, act: () => actions.edit(id, { type: 'markdown' }) }
      : { icon: 'file', label: t.toCode, act: () => actions.edit(id, { type: 'code' }) },
    { icon: 'close', label: t.delete, act: () => actions.remove(id) },
  ];
  return (
    <div className={styles['tools']} role="toolbar" aria-label={t.cellTools}>
      {tools.map(({ icon, label, why = null, act }) => (
        <IconAction key={label} why={why} icon={icon} iconSize={14} label={label} onClick={act} />
      ))}
    </div>
  );
}
