import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
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
import type { Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { nonce } from '../nonce';

/** Everything but the language of an editor of code; the label names it for screen readers. */
export function editorBase(label: string): Extension {
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
    syntaxHighlighting(EDITOR_HIGHLIGHTS),
    keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, ...searchKeymap, indentWithTab]),
    EDITOR_LOOK,
  ];
}

export const EDITOR_LOOK = EditorView.theme({
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
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius-small)',
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: 'var(--text-sm)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--selected)',
    color: 'var(--ink)',
  },
  '.cm-completionDetail': { color: 'var(--ink-faint)', fontStyle: 'normal' },
  '.cm-diagnostic': { padding: 'var(--space-2) var(--space-3)', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--failed)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--hover)', border: '0', color: 'var(--ink-soft)' },
});

export const EDITOR_HIGHLIGHTS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'light-dark(#8a2f9b, #d79be6)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--done)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--ending)' },
  { tag: tags.comment, color: 'var(--ink-faint)', fontStyle: 'italic' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--active)' },
  { tag: [tags.definition(tags.variableName), tags.className, tags.typeName], color: 'var(--accent)' },
  { tag: tags.invalid, color: 'var(--failed)' },
]);
