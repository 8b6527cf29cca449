import { useVirtualizer } from '@tanstack/react-virtual';
import type { Column, SqlValue } from 'managed-spark/sql';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react';
import { CopyButton } from '../copy-button';
import { DetailDrawer } from '../detail-drawer';
import { sqlTexts } from '../sql-texts';
import { number } from '../texts';
import { type Area, areaOf, contains, moved, type Position } from './grid-selection';
import styles from './result-grid.module.css';
import { isNumeric, textOfValue, tsvOf } from './values';

const ROW_HEIGHT = 28;
const HEAD_HEIGHT = 44;
const NUMBER_WIDTH = 64;
const OVERSCAN = 10;
/** The next rows are fetched when so few are left below. */
const ROWS_AHEAD = 200;
/** Rows whose values decide how wide a column is. */
const MEASURED_ROWS = 60;
const CHARACTER_WIDTH = 7.6;
const WIDTHS = { least: 88, most: 420, padding: 30 };
/** A longer value is cut in its cell, and whole beside the table. */
const MAX_CELL = 300;
const MAX_COPIED = 1_000_000;

interface ResultGridProps {
  label: string;
  columns: readonly Column[];
  rows: readonly SqlValue[][];
  /** Grows when `rows` has more of them. */
  version: number;
  isComplete: boolean;
  onEnd: () => void;
}

/** Rows of a statement, of which only the visible cells are in the page. */
export function ResultGrid({ label, columns, rows, version, isComplete, onEnd }: ResultGridProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const [active, setActive] = useState<Position | null>(null);
  const [anchor, setAnchor] = useState<Position | null>(null);
  const [opened, setOpened] = useState<Position | null>(null);
  // oxlint-disable-next-line react/exhaustive-deps -- the first rows decide, whatever comes later
  const widths = useMemo(() => columns.map((column, index) => widthOf(column, rows, index)), [columns]);
  const vertical = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    scrollPaddingStart: HEAD_HEIGHT,
    overscan: OVERSCAN,
  });
  const horizontal = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => widths[index] ?? WIDTHS.least,
    paddingStart: NUMBER_WIDTH,
    scrollPaddingStart: NUMBER_WIDTH,
    overscan: 3,
  });
  const shown = vertical.getVirtualItems();
  const across = horizontal.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (!isComplete && last >= rows.length - ROWS_AHEAD) onEnd();
  }, [last, rows.length, version, isComplete, onEnd]);
  const area = active && areaOf(anchor ?? active, active);
  const go = (to: Position, extend: boolean) => {
    setAnchor(extend ? (anchor ?? active) : null);
    setActive(to);
    vertical.scrollToIndex(to.row);
    horizontal.scrollToIndex(to.column);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c' && area) {
      event.preventDefault();
      void navigator.clipboard.writeText(copied(rows, area));
      return;
    }
    if (event.key === 'Enter' && active) {
      setOpened(active);
      return;
    }
    const to = moved(active, event, { rows: rows.length, columns: columns.length });
    if (!to) return;
    event.preventDefault();
    go(to, event.shiftKey);
  };
  const width = horizontal.getTotalSize();
  return (
    <>
      <div
        ref={scroller}
        className={styles['grid']}
        role="grid"
        aria-label={label}
        aria-rowcount={isComplete ? rows.length + 1 : -1}
        aria-colcount={columns.length + 1}
        aria-multiselectable="true"
        aria-activedescendant={active ? `${id}${active.row}-${active.column}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <div className={styles['head']} style={{ width }} role="row" aria-rowindex={1}>
          <span className={styles['number']} role="columnheader" aria-colindex={1} aria-label={sqlTexts.rowNumber}>
            #
          </span>
          {across.map(({ index, start, size }) => {
            const column = columns[index];
            if (!column) return null;
            return (
              <div
                key={index}
                className={styles['name']}
                style={{ left: start, width: size }}
                data-align={isNumeric(column) ? 'end' : undefined}
                role="columnheader"
                aria-colindex={index + 2}
                title={column.name}
              >
                <b>{column.name}</b>
                <small>{column.type.toLowerCase()}</small>
              </div>
            );
          })}
        </div>
        <div className={styles['body']} style={{ width, height: vertical.getTotalSize() }} role="rowgroup">
          {shown.map(({ index: row, start: top }) => (
            <div
              key={row}
              className={styles['row']}
              style={{ width, transform: `translateY(${top}px)` }}
              role="row"
              aria-rowindex={row + 2}
            >
              <span className={styles['number']} role="rowheader" aria-colindex={1}>
                {number(row + 1)}
              </span>
              {across.map(({ index: column, start, size }) => (
                <div
                  key={column}
                  id={`${id}${row}-${column}`}
                  className={styles['cell']}
                  style={{ left: start, width: size }}
                  data-align={columns[column] && isNumeric(columns[column]) ? 'end' : undefined}
                  data-active={(active?.row === row && active.column === column) || undefined}
                  data-selected={(area && contains(area, { row, column })) || undefined}
                  role="gridcell"
                  aria-colindex={column + 2}
                  aria-selected={(area && contains(area, { row, column })) ?? false}
                  onClick={({ shiftKey }) => go({ row, column }, shiftKey)}
                  onDoubleClick={() => setOpened({ row, column })}
                >
                  <CellValue value={rows[row]?.[column] ?? null} />
                </div>
              ))}
            </div>
          ))}
        </div>
      </div>
      {opened && (
        <ValueDrawer
          title={sqlTexts.value(columns[opened.column]?.name ?? '', number(opened.row + 1))}
          value={rows[opened.row]?.[opened.column] ?? null}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  );
}

function CellValue({ value }: { value: SqlValue }): ReactNode {
  const text = textOfValue(value);
  if (text === null) return <span className={styles['null']}>{sqlTexts.null}</span>;
  return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text;
}

function ValueDrawer({ title, value, onClose }: { title: string; value: SqlValue; onClose: () => void }): ReactNode {
  const text = textOfValue(value);
  return (
    <DetailDrawer title={title} width={640} onClose={onClose}>
      {text === null ? (
        <span className={styles['null']}>{sqlTexts.null}</span>
      ) : (
        <>
          <CopyButton text={text} />
          <pre className={styles['value']}>{text}</pre>
        </>
      )}
    </DetailDrawer>
  );
}

function copied(rows: readonly SqlValue[][], { top, bottom, left, right }: Area): string {
  const most = Math.max(1, Math.floor(MAX_COPIED / (right - left + 1)));
  return tsvOf(rows.slice(top, Math.min(bottom + 1, top + most)).map((row) => row.slice(left, right + 1)));
}

/** A column is as wide as its name and its first values, within bounds. */
function widthOf({ name }: Column, rows: readonly SqlValue[][], index: number): number {
  const lengths = rows.slice(0, MEASURED_ROWS).map((row) => textOfValue(row[index] ?? null)?.length ?? 4);
  const longest = Math.max(name.length + 2, ...lengths);
  return Math.min(WIDTHS.most, Math.max(WIDTHS.least, Math.ceil(longest * CHARACTER_WIDTH) + WIDTHS.padding));
}
