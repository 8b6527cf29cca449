import { ActionIcon, Button, TextInput, Tooltip } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Icon, type IconName } from '../icons';
import { ProblemPanel } from '../problem-panel';
import { texts } from '../texts';
import { AnsiText } from './ansi-text';
import { findLine, isFault } from './log-search';
import styles from './log-viewer.module.css';
import { type LogLine, type LogSource, LogWindow } from './log-window';

const LINE_HEIGHT = 19;
const OVERSCAN = 30;
/** A request for the log asks for so much. */
const CHUNK_BYTES = 256 * 1024;
/** The page keeps so much of a log, however large it is. */
const MAX_BYTES = 2 * 1024 * 1024;
/** The next chunk is read when so few lines are left. */
const LINES_AHEAD = 60;
const RETRY_MS = 3_000;

interface LogViewerProps {
  label: string;
  source: LogSource;
  /** True while something may still be written. */
  isLive: boolean;
  downloadUrl: string;
  fileName: string;
  /** Finds the line that is shown first, if the log has one. */
  findFirst?: (lines: readonly LogLine[]) => number;
  /** Stands first in the toolbar, such as the choice of a log. */
  children?: ReactNode;
}

/** A log of any size. The page has the lines around what is shown; the rest is read when it is scrolled to. */
export function LogViewer(props: LogViewerProps): ReactNode {
  const { label, source, isLive, downloadUrl, fileName, findFirst, children } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const log = useLog(source, isLive, findFirst);
  const { window: shown, size, marked } = log;
  const virtual = useVirtualizer({
    count: shown?.lines.length ?? 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: OVERSCAN,
    getItemKey: (index) => shown?.lines[index]?.offset ?? index,
  });
  useScrolling(scroller, log);
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  const { readBefore, readBehind } = log;
  useEffect(() => {
    if (!shown) return;
    if (first < LINES_AHEAD) readBefore();
    if (last > shown.lines.length - LINES_AHEAD) readBehind();
  }, [first, last, shown, readBefore, readBehind]);
  return (
    <section className={styles['viewer']} aria-label={label}>
      <Toolbar log={log} source={source} downloadUrl={downloadUrl} fileName={fileName} isLive={isLive}>
        {children}
      </Toolbar>
      {log.error !== null && <ProblemPanel error={log.error} onRetry={log.toEnd} />}
      {size === 0 && <p className={styles['nothing']}>{isLive ? texts.log.nothingYet : texts.log.nothing}</p>}
      <div className={styles['scroller']} ref={scroller} tabIndex={0} role="log" aria-live="off" aria-label={label}>
        <div className={styles['lines']} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const line = shown?.lines[index];
            return line && <Line key={key} line={line} top={start} isMarked={line.offset === marked} />;
          })}
        </div>
      </div>
    </section>
  );
}

function Line({ line, top, isMarked }: { line: LogLine; top: number; isMarked: boolean }): ReactNode {
  return (
    <div
      className={styles['line']}
      style={{ transform: `translateY(${top}px)` }}
      data-fault={isFault(line.text) || undefined}
      data-marked={isMarked || undefined}
    >
      <AnsiText text={line.text} />
      {'\n'}
    </div>
  );
}

interface Log {
  window: LogWindow | null;
  size: number | null;
  error: unknown;
  /** The first byte of the line that was searched for. */
  marked: number | null;
  /** True if new lines scroll into view. */
  isFollowing: boolean;
  setFollowing: (isFollowing: boolean) => void;
  readBefore: () => void;
  readBehind: () => void;
  toStart: () => void;
  toEnd: () => void;
  /** Shows the line that begins at the byte. */
  toOffset: (offset: number) => Promise<void>;
}

/** Reads the log around what is shown, and what is written while it is live. */
function useLog(source: LogSource, isLive: boolean, findFirst: LogViewerProps['findFirst']): Log {
  const [shown, setShown] = useState<LogWindow | null>(null);
  const [size, setSize] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [marked, setMarked] = useState<number | null>(null);
  const [isFollowing, setFollowing] = useState(true);
  const current = useRef<LogWindow | null>(null);
  const isReading = useRef(false);
  const end = useRef(new AbortController());

  const show = useCallback((next: LogWindow) => {
    current.current = next;
    setShown(next);
    setSize((known) => Math.max(known ?? 0, next.end));
  }, []);

  /** One chunk is read at a time, so that each fits to what is there. */
  const read = useCallback(async (action: (signal: AbortSignal) => Promise<void>) => {
    if (isReading.current) return;
    isReading.current = true;
    const { signal } = end.current;
    try {
      await action(signal);
      setError(null);
    } catch (problem) {
      if (!signal.aborted) setError(problem);
    } finally {
      isReading.current = false;
    }
  }, []);

  const windowAt = useCallback(
    async (offset: number, signal: AbortSignal) => {
      const from = Math.max(0, offset - CHUNK_BYTES / 2);
      return LogWindow.of(await source.read(from, CHUNK_BYTES, signal), from, from === 0);
    },
    [source],
  );

  const toEnd = useCallback(() => {
    void read(async (signal) => {
      const bytes = await source.size(signal);
      const from = Math.max(0, bytes - CHUNK_BYTES);
      const next = LogWindow.of(await source.read(from, CHUNK_BYTES, signal), from, from === 0);
      setSize(bytes);
      setFollowing(true);
      show(next);
    });
  }, [read, source, show]);

  const toStart = useCallback(() => {
    setFollowing(false);
    void read(async (signal) => {
      const next = LogWindow.of(await source.read(0, CHUNK_BYTES, signal), 0, true);
      setMarked(next.lines[0]?.offset ?? null);
      show(next);
    });
  }, [read, source, show]);

  const toOffset = useCallback(
    (offset: number) => {
      setFollowing(false);
      return read(async (signal) => {
        if ((current.current?.indexOf(offset) ?? -1) === -1) show(await windowAt(offset, signal));
        setMarked(offset);
      });
    },
    [read, show, windowAt],
  );

  const readBefore = useCallback(() => {
    const before = current.current;
    if (!before || before.start === 0) return;
    void read(async (signal) => {
      const from = Math.max(0, before.start - CHUNK_BYTES);
      const chunk = LogWindow.of(await source.read(from, before.start - from, signal), from, from === 0);
      if (current.current === before) show(before.prepend(chunk, MAX_BYTES));
    });
  }, [read, source, show]);

  const readBehind = useCallback(() => {
    const before = current.current;
    if (!before || before.end >= (size ?? 0)) return;
    void read(async (signal) => {
      const bytes = await source.read(before.end, CHUNK_BYTES, signal);
      if (current.current === before) show(before.append(bytes, MAX_BYTES));
    });
  }, [read, source, show, size]);

  useEffect(() => {
    end.current = new AbortController();
    isReading.current = false;
    toEnd();
    const ending = end.current;
    return () => ending.abort();
  }, [toEnd]);

  const isLoaded = shown !== null;
  useEffect(() => {
    if (!isLive || !isLoaded) return;
    const ending = new AbortController();
    const take = (bytes: Uint8Array, offset: number) => {
      const before = current.current;
      setSize(offset + bytes.length);
      // Bytes that do not fit are read when they are scrolled to.
      if (before?.end === offset) show(before.append(bytes, MAX_BYTES));
    };
    void followed(source, current.current?.end ?? 0, take, ending.signal);
    return () => ending.abort();
  }, [isLive, isLoaded, source, show]);

  // The line that says what went wrong is shown first.
  const isFirst = useRef(true);
  useEffect(() => {
    if (!shown || !isFirst.current) return;
    isFirst.current = false;
    const line = shown.lines[findFirst?.(shown.lines) ?? -1];
    if (!line) return;
    setFollowing(false);
    setMarked(line.offset);
  }, [shown, findFirst]);

  return {
    window: shown,
    size,
    error,
    marked,
    isFollowing,
    setFollowing,
    readBefore,
    readBehind,
    toStart,
    toEnd,
    toOffset,
  };
}

/** Hands over what is written behind the offset. A connection that breaks is opened again; a page that is hidden has none. */
async function followed(
  source: LogSource,
  from: number,
  take: (bytes: Uint8Array, offset: number) => void,
  signal: AbortSignal,
): Promise<void> {
  let offset = from;
  while (!signal.aborted) {
    await visible(signal);
    const hidden = new AbortController();
    const onChange = () => document.visibilityState === 'hidden' && hidden.abort();
    document.addEventListener('visibilitychange', onChange);
    try {
      for await (const bytes of source.follow(offset, AbortSignal.any([signal, hidden.signal]))) {
        take(bytes, offset);
        offset += bytes.length;
      }
      return;
    } catch {
      // The next connection begins at the same byte, so that nothing is missed.
      if (!signal.aborted && !hidden.signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    } finally {
      document.removeEventListener('visibilitychange', onChange);
    }
  }
}

function visible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === 'visible' || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      document.removeEventListener('visibilitychange', onChange);
      resolve();
    };
    const onChange = () => document.visibilityState === 'visible' && end();
    document.addEventListener('visibilitychange', onChange);
    signal.addEventListener('abort', end, { once: true });
  });
}

/** Keeps the same lines in view when lines are added above, and the last ones while the log is followed. */
function useScrolling(scroller: RefObject<HTMLDivElement | null>, log: Log): void {
  const { window: shown, isFollowing, setFollowing, marked } = log;
  const top = useRef<{ offset: number; rest: number } | null>(null);
  const markedBefore = useRef<number | null>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !shown) return;
    if (marked !== null && marked !== markedBefore.current) {
      const index = shown.indexOf(marked);
      if (index === -1) return;
      markedBefore.current = marked;
      element.scrollTop = index * LINE_HEIGHT - element.clientHeight / 3;
    } else if (isFollowing) element.scrollTop = element.scrollHeight;
    else if (top.current) {
      const index = shown.indexOf(top.current.offset);
      if (index !== -1) element.scrollTop = index * LINE_HEIGHT + top.current.rest;
    }
  }, [shown, isFollowing, marked, scroller]);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const onScroll = () => {
      const { scrollTop, clientHeight, scrollHeight } = element;
      const line = shown?.lines[Math.floor(scrollTop / LINE_HEIGHT)];
      top.current = line ? { offset: line.offset, rest: scrollTop % LINE_HEIGHT } : null;
      if (shown && scrollTop + clientHeight < scrollHeight - 2 * LINE_HEIGHT) setFollowing(false);
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => element.removeEventListener('scroll', onScroll);
  }, [shown, setFollowing, scroller]);
}

interface ToolbarProps {
  log: Log;
  source: LogSource;
  downloadUrl: string;
  fileName: string;
  isLive: boolean;
  children: ReactNode;
}

function Toolbar({ log, source, downloadUrl, fileName, isLive, children }: ToolbarProps): ReactNode {
  const { size, window: shown, isFollowing } = log;
  return (
    <div className={styles['toolbar']}>
      {children}
      <LogSearch log={log} source={source} />
      <span className={styles['size']}>
        {isLive && isFollowing && <span className={styles['live']}>{texts.log.live}</span>}
        {size !== null && texts.log.size(size)}
        {shown && size !== null && size > shown.end - shown.start && ` · ${texts.log.part(shown.start, shown.end)}`}
      </span>
      <ToolButton icon="toStart" label={texts.log.toStart} onClick={log.toStart} />
      <ToolButton icon="toEnd" label={texts.log.toEnd} onClick={log.toEnd} />
      <Button
        component="a"
        href={downloadUrl}
        download={fileName}
        variant="default"
        leftSection={<Icon name="download" size={14} />}
      >
        {texts.log.download}
      </Button>
    </div>
  );
}

function ToolButton({ icon, label, onClick }: { icon: IconName; label: string; onClick: () => void }): ReactNode {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size={30} aria-label={label} onClick={onClick}>
        <Icon name={icon} />
      </ActionIcon>
    </Tooltip>
  );
}

function LogSearch({ log, source }: { log: Log; source: LogSource }): ReactNode {
  const [text, setText] = useState('');
  const [state, setState] = useState<string | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const find = async (direction: 'forward' | 'backward') => {
    running.current?.abort();
    const { size, window: shown, marked } = log;
    if (text === '' || size === null || !shown) return;
    const ending = (running.current = new AbortController());
    const line = marked === null ? undefined : shown.lines[shown.indexOf(marked)];
    const behind = line ? line.offset + new TextEncoder().encode(line.text).length + 1 : 0;
    const from = direction === 'forward' ? behind : (line?.offset ?? size);
    const onProgress = (offset: number) => setState(texts.log.searching(offset));
    try {
      const found = await findLine(source, { text, from, direction, size, signal: ending.signal, onProgress });
      setState(found === null ? texts.log.notFound : null);
      if (found !== null) await log.toOffset(found);
    } catch (error) {
      if (!ending.signal.aborted) setState(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form
      className={styles['search']}
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        void find('forward');
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !event.shiftKey) return;
        event.preventDefault();
        void find('backward');
      }}
    >
      <TextInput
        aria-label={texts.log.search}
        placeholder={texts.log.search}
        leftSection={<Icon name="search" />}
        value={text}
        onChange={({ currentTarget: { value } }) => setText(value)}
      />
      <ToolButton icon="arrowUp" label={texts.log.previous} onClick={() => void find('backward')} />
      <ToolButton icon="arrowDown" label={texts.log.next} onClick={() => void find('forward')} />
      <span className={styles['state']} role="status">
        {state}
      </span>
    </form>
  );
}
