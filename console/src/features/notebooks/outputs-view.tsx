import { Button } from '@mantine/core';
import { lazy, memo, type ReactNode, Suspense, useMemo, useState } from 'react';
import { AnsiText } from '../../shared/log/ansi-text';
import { notebookTexts as t } from '../../shared/notebook-texts';
import { HtmlOutput } from './html-output';
import { type Output, textOf } from './outputs';
import { terminalText } from './terminal-text';
import styles from './outputs-view.module.css';

const MarkdownView = lazy(async () => ({ default: (await import('./markdown-view')).MarkdownView }));

/** Further lines are shown at the press of a button. */
const MAX_LINES = 400;
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
const JSON_TYPE = /^application\/(?:[\w.+-]*\+)?json$/;

/** The outputs of a cell, in their order. */
export const OutputsView = memo(function OutputsView({
  label,
  outputs,
}: {
  label: string;
  outputs: readonly Output[];
}) {
  return (
    <div className={styles['outputs']} role="group" aria-label={label}>
      {outputs.map((output, index) => (
        // Outputs are only added at the end, so the place of one is its name.
        <OutputView key={index} output={output} />
      ))}
    </div>
  );
});

const OutputView = memo(function OutputView({ output }: { output: Output }): ReactNode {
  switch (output.output_type) {
    case 'stream':
      return <TextOutput text={output.text} kind={output.name === 'stderr' ? 'stderr' : 'stdout'} />;
    case 'error':
      return <ErrorOutput {...output} />;
    case 'display_data':
    case 'execute_result':
      return <DataOutput data={output.data} />;
  }
});

function ErrorOutput({ ename, evalue, traceback }: { ename: string; evalue: string; traceback: readonly string[] }) {
  return (
    <div className={styles['error']} role="alert">
      <p className={styles['errorTitle']}>
        <strong>{ename}</strong>
        {evalue !== '' && `: ${evalue.split('\n', 1)[0]}`}
      </p>
      {traceback.length > 0 && <TextOutput text={traceback.join('\n')} kind="traceback" />}
    </div>
  );
}

/** Shows the best form of a value: a picture before markup, and markup before text. */
function DataOutput({ data }: { data: Readonly<Record<string, unknown>> }): ReactNode {
  const image = imageOf(data);
  if (image !== null) return <img className={styles['image']} src={image} alt={altOf(data)} />;
  const html = textOf(data['text/html']);
  if (html !== '') return <HtmlOutput html={html} />;
  const markdown = textOf(data['text/markdown']);
  if (markdown !== '') {
    return (
      <Suspense fallback={<TextOutput text={markdown} kind="stdout" />}>
        <MarkdownView text={markdown} />
      </Suspense>
    );
  }
  return <TextOutput text={plainOf(data)} kind="stdout" />;
}

function imageOf(data: Readonly<Record<string, unknown>>): string | null {
  for (const type of IMAGES) {
    const content = textOf(data[type]);
    if (content !== '' && BASE64.test(content)) return `data:${type};base64,${content.replaceAll(/\s/g, '')}`;
  }
  const svg = textOf(data['image/svg+xml']);
  // As an image, it executes no scripts and loads nothing.
  return svg === '' ? null : `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

function altOf(data: Readonly<Record<string, unknown>>): string {
  return textOf(data['text/plain']).slice(0, 200) || t.image;
}

function plainOf(data: Readonly<Record<string, unknown>>): string {
  const text = textOf(data['text/plain']) || textOf(data['text/latex']);
  if (text !== '') return text;
  const [type = '', value] = Object.entries(data)[0] ?? [];
  return JSON_TYPE.test(type) ? JSON.stringify(value, null, 2) : textOf(value);
}

interface TextOutputProps {
  text: string;
  kind: 'stdout' | 'stderr' | 'traceback';
}

/** A text as a terminal shows it. Its last lines are shown; all of them when somebody asks. */
function TextOutput({ text, kind }: TextOutputProps): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const lines = useMemo(() => terminalText(text).replace(/\n$/, '').split('\n'), [text]);
  const isCut = !isWhole && lines.length > MAX_LINES;
  const shown = isCut ? lines.slice(-MAX_LINES) : lines;
  return (
    <>
      {isCut && (
        <Button variant="subtle" size="compact-xs" onClick={() => setWhole(true)}>
          {t.tooLong} ({lines.length.toLocaleString('en')})
        </Button>
      )}
      <pre className={styles['text']} data-kind={kind} tabIndex={0}>
        <AnsiText text={shown.join('\n')} />
      </pre>
    </>
  );
}
