import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  completionKeymap,
  type CompletionResult,
  startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import { python } from '@codemirror/lang-python';
import { sql } from '@codemirror/lang-sql';
import { bracketMatching, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { scala } from '@codemirror/legacy-modes/mode/clike';
import { Compartment, EditorState, type Extension, Prec, StateEffect, StateField } from '@codemirror/state';
import { drawSelection, EditorView, type KeyBinding, keymap, showTooltip, type Tooltip } from '@codemirror/view';
import type { NotebookType } from 'managed-spark/types';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { EDITOR_HIGHLIGHTS, EDITOR_LOOK } from '../../shared/editor/editor-base';
import { plainText } from '../../shared/log/ansi';
import { nonce } from '../../shared/nonce';
import { notebookTexts as t } from '../../shared/notebook-texts';
import { codePoints, textLength } from './code-points';
import type { Content } from './outputs';

export interface CellEditorCalls {
  onChange: (text: string) => void;
  /** Runs the cell, and then goes to the next one, stays, or inserts another one below. */
  onRun: (then: 'next' | 'stay' | 'insert') => void;
  /** Leaves the editor for its cell. */
  onLeave: () => void;
  /** Goes to the cell before or after this one. */
  onStep: (by: -1 | 1) => boolean;
  ask: (type: 'complete_request' | 'inspect_request', content: Content) => Promise<Content | null>;
}

interface CellEditorProps extends CellEditorCalls {
  label: string;
  language: Language;
  text: string;
  isReadOnly: boolean;
  /** True if it gets the focus when it appears. */
  hasFocus: boolean;
}

const MAX_INSPECTED = 20_000;

/** Edits the source of a cell. */
export function CellEditor(props: CellEditorProps): ReactNode {
  const { label, language, text, isReadOnly, hasFocus } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  // The editor lives longer than one drawing, and calls what is the latest.
  const calls = useRef<CellEditorCalls>(props);
  const first = useRef({ text, hasFocus, label, language, isReadOnly });
  const [parts] = useState(() => ({ place: new Compartment(), language: new Compartment() }));
  useEffect(() => {
    calls.current = props;
  });
  useEffect(() => {
    if (!place.current) return undefined;
    const made = new EditorView({ state: firstState(first.current, parts, calls), parent: place.current });
    view.current = made;
    if (first.current.hasFocus) made.focus();
    return () => {
      first.current = { ...first.current, text: made.state.doc.toString(), hasFocus: made.hasFocus };
      made.destroy();
    };
  }, [parts]);
  // A cell that moves, as when another one is inserted above it, keeps its cursor and what can be undone.
  useEffect(() => {
    view.current?.dispatch({ effects: parts.place.reconfigure(placeOf(label, isReadOnly)) });
  }, [parts, label, isReadOnly]);
  useEffect(() => {
    view.current?.dispatch({ effects: parts.language.reconfigure(languageOf(language, calls)) });
  }, [parts, language]);
  useEffect(() => {
    if (hasFocus) view.current?.focus();
  }, [hasFocus]);
  useEffect(() => {
    if (view.current) takeText(view.current, text);
  }, [text]);
  return <div ref={place} />;
}

/** Takes over a text that somebody else has written; what is the same at both ends stays, with the cursor in it. */
function takeText(view: EditorView, text: string): void {
  const shown = view.state.doc.toString();
  if (shown === text) return;
  const shorter = Math.min(shown.length, text.length);
  let from = 0;
  while (from < shorter && shown[from] === text[from]) from += 1;
  let end = 0;
  while (end < shorter - from && shown.at(-1 - end) === text.at(-1 - end)) end += 1;
  view.dispatch({ changes: { from, to: shown.length - end, insert: text.slice(from, text.length - end) } });
}

type Calls = Readonly<{ current: CellEditorCalls }>;

type Language = NotebookType | 'markdown';

interface First {
  text: string;
  label: string;
  language: Language;
  isReadOnly: boolean;
}

function firstState(
  { text, label, language, isReadOnly }: First,
  parts: Readonly<Record<'place' | 'language', Compartment>>,
  calls: Calls,
): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      EditorView.cspNonce.of(nonce),
      parts.place.of(placeOf(label, isReadOnly)),
      EditorView.lineWrapping,
      history(),
      drawSelection(),
      indentOnInput(),
      indentUnit.of('    '),
      bracketMatching(),
      syntaxHighlighting(EDITOR_HIGHLIGHTS),
      parts.language.of(languageOf(language, calls)),
      Prec.highest(keymap.of(cellKeys(calls))),
      keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
      EDITOR_LOOK,
      CELL_LOOK,
      EditorView.updateListener.of(({ docChanged, state: { doc } }) => {
        if (docChanged) calls.current.onChange(doc.toString());
      }),
    ],
  });
}

function placeOf(label: string, isReadOnly: boolean): Extension {
  return [
    EditorView.contentAttributes.of({ 'aria-label': label }),
    EditorState.readOnly.of(isReadOnly),
    EditorView.editable.of(!isReadOnly),
  ];
}

/** The kernel completes and explains code, and no text. */
function languageOf(language: Language, calls: Calls): Extension {
  return [languageFor(language), language === 'markdown' ? [] : [completionsOf(calls), inspection(calls)]];
}

function languageFor(language: Language): Extension {
  switch (language) {
    case 'python3':
      return python();
    case 'sql':
      return sql();
    case 'scala':
      return StreamLanguage.define(scala);
    case 'markdown':
      return [];
  }
}

function cellKeys(calls: Calls): KeyBinding[] {
  const run = (then: 'next' | 'stay' | 'insert') => () => (calls.current.onRun(then), true);
  return [
    { key: 'Shift-Enter', run: run('next') },
    { key: 'Mod-Enter', run: run('stay') },
    { key: 'Alt-Enter', run: run('insert') },
    { key: 'ArrowUp', run: (view) => isAtEdge(view, 'start') && calls.current.onStep(-1) },
    { key: 'ArrowDown', run: (view) => isAtEdge(view, 'end') && calls.current.onStep(1) },
  ];
}

function isAtEdge({ state }: EditorView, edge: 'start' | 'end'): boolean {
  const { main } = state.selection;
  return main.empty && (edge === 'start' ? main.head === 0 : main.head === state.doc.length);
}

/** Only the blanks of its line stand before the cursor, so Tab indents. */
function isBeforeText({ state }: EditorView): boolean {
  const { main } = state.selection;
  const { from, text } = state.doc.lineAt(main.head);
  return !main.empty || text.slice(0, main.head - from).trim() === '';
}

function completionsOf(calls: Calls): Extension {
  const source = async (context: CompletionContext) => {
    if (!context.explicit && !context.matchBefore(/\w\./)) return null;
    const code = context.state.doc.toString();
    const content = { code, cursor_pos: codePoints(code, context.pos) };
    const answer = await calls.current.ask('complete_request', content);
    return answer === null || context.aborted ? null : completionsIn(answer, code);
  };
  const complete = (view: EditorView) => acceptCompletion(view) || startCompletion(view);
  return [
    autocompletion({ override: [source], icons: false }),
    Prec.high(keymap.of([{ key: 'Tab', run: (view) => (isBeforeText(view) ? indentMore(view) : complete(view)) }])),
  ];
}

function completionsIn(answer: Content, code: string): CompletionResult | null {
  const { matches, cursor_start: start, cursor_end: end, metadata } = answer;
  if (!Array.isArray(matches) || typeof start !== 'number' || typeof end !== 'number') return null;
  const types = (metadata as { _jupyter_types_experimental?: { text?: unknown; type?: unknown }[] } | undefined)
    ?._jupyter_types_experimental;
  const typeOf = new Map(types?.map(({ text, type }) => [String(text), String(type)]));
  return {
    from: textLength(code, start),
    to: textLength(code, end),
    options: matches.map(String).map((label) => ({ label, detail: detailOf(typeOf.get(label)) })),
    validFor: /^\w*$/,
  };
}

/** Returns the kind of a completion; empty if the kernel does not know it. */
function detailOf(type: string | undefined): string {
  return type === undefined || type.startsWith('<') ? '' : ` ${type}`;
}

const setInspected = StateEffect.define<Tooltip | null>();

/** Holds what the kernel says of the code at the cursor, until the cursor moves. */
const INSPECTED = StateField.define<Tooltip | null>({
  create: () => null,
  update(shown, { effects, docChanged, selection }) {
    for (const effect of effects) if (effect.is(setInspected)) return effect.value;
    return docChanged || selection ? null : shown;
  },
  provide: (field) => showTooltip.from(field),
});

function inspection(calls: Calls): Extension {
  const inspect = async (view: EditorView) => {
    const code = view.state.doc.toString();
    const { head } = view.state.selection.main;
    const content = { code, cursor_pos: codePoints(code, head), detail_level: 0 };
    const answer = await calls.current.ask('inspect_request', content);
    const text = (answer?.['data'] as Content | undefined)?.['text/plain'];
    if (typeof text !== 'string' || view.state.doc.toString() !== code) return;
    view.dispatch({ effects: setInspected.of({ pos: head, above: true, create: () => ({ dom: explanation(text) }) }) });
  };
  return [
    INSPECTED,
    Prec.high(
      keymap.of([
        { key: 'Shift-Tab', run: (view) => (isBeforeText(view) ? indentLess(view) : (void inspect(view), true)) },
        { key: 'Escape', run: hideInspected },
      ]),
    ),
    // Any other Escape leaves the editor, after completions have had their turn.
    Prec.lowest(keymap.of([{ key: 'Escape', run: () => (calls.current.onLeave(), true) }])),
  ];
}

function hideInspected(view: EditorView): boolean {
  if (view.state.field(INSPECTED) === null) return false;
  view.dispatch({ effects: setInspected.of(null) });
  return true;
}

function explanation(text: string): HTMLElement {
  const element = document.createElement('pre');
  element.className = 'cm-inspected';
  element.setAttribute('aria-label', t.inspected);
  element.textContent = plainText(text.slice(0, MAX_INSPECTED));
  return element;
}

const CELL_LOOK = EditorView.theme({
  '&': { height: 'auto' },
  '.cm-content': { padding: 'var(--space-2) 0' },
  '.cm-line': { padding: '0 var(--space-3)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-small)',
    boxShadow: '0 6px 24px light-dark(#00000020, #00000060)',
    color: 'var(--ink)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mono)',
    fontSize: 'var(--text-xs)',
    maxHeight: '16em',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px var(--space-2)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent-fill)',
    color: '#ffffff',
  },
  '.cm-completionDetail': { color: 'inherit', fontStyle: 'normal', opacity: '0.75' },
  '.cm-inspected': {
    fontFamily: 'var(--mono)',
    fontSize: 'var(--text-xs)',
    margin: '0',
    maxHeight: '22em',
    maxWidth: '80ch',
    overflow: 'auto',
    padding: 'var(--space-2) var(--space-3)',
    whiteSpace: 'pre-wrap',
  },
});
