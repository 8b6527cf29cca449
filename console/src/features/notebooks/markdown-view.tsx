import DOMPurify, { type Config } from 'dompurify';
import MarkdownIt from 'markdown-it';
import { type ReactNode, useEffect, useRef } from 'react';
import styles from './markdown-view.module.css';

const MARKDOWN = new MarkdownIt({ html: false, linkify: true });

/** Names and ids could take the places of objects of the page. */
const CLEAN: Config & { RETURN_DOM_FRAGMENT: true } = {
  USE_PROFILES: { html: true },
  FORBID_TAGS: ['style', 'form', 'input', 'button', 'select', 'textarea'],
  FORBID_ATTR: ['id', 'name', 'style', 'class'],
  ALLOW_DATA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

/** Shows a text in Markdown. Markup in it is shown as text, and what the rest becomes is cleaned once more. */
export function MarkdownView({ text }: { text: string }): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const shown = DOMPurify.sanitize(MARKDOWN.render(text), CLEAN);
    for (const link of shown.querySelectorAll('a')) {
      link.target = '_blank';
      link.rel = 'noreferrer noopener';
    }
    place.current?.replaceChildren(shown);
  }, [text]);
  return <div ref={place} className={styles['markdown']} />;
}
