import { autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion } from '@codemirror/autocomplete';
import { sql } from '@codemirror/lang-sql';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { editorBase } from '../../shared/editor/editor-base';
import { sqlTexts } from '../../shared/sql-texts';
import { sqlCompletions } from './catalog-completion';
import { SPARK } from './spark-dialect';
import { useSqlCatalog } from './sql-catalog';

/** The screen's hold of the editor. */
export interface EditorHandle {
  text: () => string;
  /** The selected text with its place; null if nothing is selected. */
  selection: () => { text: string; from: number } | null;
  cursor: () => number;
  replace: (text: string) => void;
  mark: (marks: readonly { from: number; to: number; message: string }[]) => void;
  focus: () => void;
}

interface SqlEditorProps {
  handle: RefObject<EditorHandle | null>;
  workspaceId: number;
  /** Id of the run of the SQL server, whose catalog has the names to complete. */
  server: number | undefined;
  /** The text at first; later ones are the editor's own. */
  initial: string;
  onChange: (text: string) => void;
  onRun: (all: boolean) => void;
}

/** Edits SQL statements. */
export function SqlEditor({ handle, workspaceId, server, initial, onChange, onRun }: SqlEditorProps): ReactNode {
  const catalog = useSqlCatalog(workspaceId, server);
  const place = useRef<HTMLDivElement>(null);
  const first = useRef(initial);
  // The editor lives longer than one drawing, and calls what is the latest.
  const calls = useRef({ onChange, onRun, catalog });
  useEffect(() => {
    calls.current = { onChange, onRun, catalog };
  }, [onChange, onRun, catalog]);
  useEffect(() => {
    if (!place.current) return undefined;
    const run = (view: EditorView, all: boolean) => {
      // Suggestions would cover the text while its statements run.
      closeCompletion(view);
      calls.current.onRun(all);
      return true;
    };
    const state = EditorState.create({
      doc: first.current,
      extensions: [
        // Before the keys of the base, where Mod-Enter begins a line.
        Prec.highest(
          keymap.of([
            { key: 'Mod-Enter', run: (view) => run(view, false) },
            { key: 'Mod-Shift-Enter', run: (view) => run(view, true) },
          ]),
        ),
        editorBase(sqlTexts.editor),
        sql({ dialect: SPARK }),
        autocompletion({ override: sqlCompletions(() => calls.current.catalog) }),
        closeBrackets(),
        keymap.of(closeBracketsKeymap),
        EditorView.lineWrapping,
        EditorView.updateListener.of(({ docChanged, state: { doc } }) => {
          if (docChanged) calls.current.onChange(doc.toString());
        }),
      ],
    });
    const view = new EditorView({ state, parent: place.current });
    handle.current = handleOf(view);
    view.focus();
    return () => {
      first.current = view.state.doc.toString();
      handle.current = null;
      view.destroy();
    };
  }, [handle]);
  return <div ref={place} style={{ height: '100%' }} />;
}

function handleOf(view: EditorView): EditorHandle {
  return {
    text: () => view.state.doc.toString(),
    selection: () => {
      const { from, to, empty } = view.state.selection.main;
      return empty ? null : { text: view.state.sliceDoc(from, to), from };
    },
    cursor: () => view.state.selection.main.head,
    replace: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    mark: (marks) => {
      const { length } = view.state.doc;
      const diagnostics = marks.map(({ from, to, message }): Diagnostic => ({
        from: Math.min(from, length),
        to: Math.min(to, length),
        severity: 'error',
        message,
      }));
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    focus: () => view.focus(),
  };
}
