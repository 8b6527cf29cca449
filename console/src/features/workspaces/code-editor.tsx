import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { python } from '@codemirror/lang-python';
import { sql } from '@codemirror/lang-sql';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type ReactNode, useEffect, useRef } from 'react';
import { nonce } from '../../shared/nonce';

interface CodeEditorProps {
  label: string;
  /** Its extension decides on the language. */
  path: string;
  /** The text at first; later ones are the editor's own. */
  text: string;
  onChange: (text: string) => void;
  onSave: () => void;
}

/** Edits the text of a file. */
export function CodeEditor({ label, path, text, onChange, onSave }: CodeEditorProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  // The editor lives longer than one drawing, and calls what is the latest.
  const calls = useRef({ onChange, onSave });
  useEffect(() => {
    calls.current = { onChange, onSave };
  }, [onChange, onSave]);
  useEffect(() => {
    if (!place.current) return undefined;
    const state = EditorState.create({
      doc: text,
      extensions: [
        extensionsFor(path, label),
        keymap.of([{ key: 'Mod-s', preventDefault: true, run: () => (calls.current.onSave(), true) }]),
        EditorView.updateListener.of(({ docChanged, state: { doc } }) => {
          if (docChanged) calls.current.onChange(doc.toString());
        }),
      ],
    });
    const view = new EditorView({ state, parent: place.current });
    view.focus();
    return () => view.destroy();
  }, [text, path, label]);
  return <div ref={place} style={{ height: '100%' }} />;
}

function extensionsFor(path: string, label: string): Extension {
  return [
    EditorView.cspNonce.of(nonce),
    EditorView.contentAttributes.of({ 'aria-label': label }),
    lineNumbers(),
    foldGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    indentUnit.of('    '),
    bracketMatching(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    search({ top: true }),
    syntaxHighlighting(HIGHLIGHTS),
    keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, ...searchKeymap, indentWithTab]),
    languageFor(path),
    LOOK,
  ];
}

function languageFor(path: string): Extension {
  if (/\.py$/i.test(path)) return python();
  return /\.sql$/i.test(path) ? sql() : [];
}

const LOOK = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', fontSize: 'var(--text-sm)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { padding: 'var(--space-3) 0', caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--ink-faint)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selected)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--selected)' },
  '.cm-panels': { backgroundColor: 'var(--panel)', color: 'var(--ink)', borderBottom: '1px solid var(--line)' },
  '.cm-textfield, .cm-button': {
    backgroundColor: 'var(--panel)',
    backgroundImage: 'none',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-small)',
    color: 'var(--ink)',
  },
  '.cm-searchMatch': { backgroundColor: 'light-dark(#fbe7a8, #5c4a12)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--hover)', border: '0', color: 'var(--ink-soft)' },
});

const HIGHLIGHTS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'light-dark(#8a2f9b, #d79be6)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--done)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--ending)' },
  { tag: tags.comment, color: 'var(--ink-faint)', fontStyle: 'italic' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--active)' },
  { tag: [tags.definition(tags.variableName), tags.className, tags.typeName], color: 'var(--accent)' },
  { tag: tags.invalid, color: 'var(--failed)' },
]);
