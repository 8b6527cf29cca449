import { python } from '@codemirror/lang-python';
import { sql } from '@codemirror/lang-sql';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { type ReactNode, useEffect, useRef } from 'react';
import { editorBase } from '../../shared/editor/editor-base';

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
        editorBase(label),
        languageFor(path),
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

function languageFor(path: string): Extension {
  if (/\.py$/i.test(path)) return python();
  return /\.sql$/i.test(path) ? sql() : [];
}
