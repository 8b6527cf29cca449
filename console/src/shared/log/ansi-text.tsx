import type { ReactNode } from 'react';
import { spansOf } from './ansi';
import styles from './ansi-text.module.css';

/** A text in the colours that its escape sequences set. */
export function AnsiText({ text }: { text: string }): ReactNode {
  if (!text.includes('\u001b')) return text;
  return spansOf(text).map(({ text: piece, styles: names }, index) => (
    <span key={index} className={names.map((name) => styles[name]).join(' ') || undefined}>
      {piece}
    </span>
  ));
}
