import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useEffect, useMemo, useRef } from 'react';
import styles from './data-table.module.css';
import { Icon } from './icons';

const ROW_HEIGHT = 44;
/** Rows beyond the visible ones, so that fast scrolling shows no gaps. */
const OVERSCAN = 12;
/** The next page is requested when so few rows are left below. */
const ROWS_AHEAD = 40;

export interface Column<R> {
  id: string;
  header: string;
  /** Width as a track of a CSS grid. */
  width: string;
  align?: 'end';
  /** True if the server can sort by the column. */
  isSortable?: boolean;
  cell: (row: R) => ReactNode;
}

export interface Sorting {
  by: string;
  order: 'asc' | 'desc';
}

interface DataTableProps<R> {
  label: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  keyOf: (row: R) => string | number;
  /** Number of all rows, if it is known and larger than those that are loaded. */
  total?: number;
  sorting?: Sorting;
  onSort?: (sorting: Sorting) => void;
  /** Called when the rows that are loaded come to an end. */
  onEnd?: () => void;
}

/** A table of any length that keeps only the visible rows in the page. The server sorts, filters and pages. */
export function DataTable<R>(props: DataTableProps<R>): ReactNode {
  const { label, columns, rows, keyOf, total, sorting, onSort, onEnd } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    useFlushSync: false,
    getItemKey: (index) => (rows[index] === undefined ? index : keyOf(rows[index])),
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - ROWS_AHEAD) onEnd?.();
  }, [last, rows.length, onEnd]);
  const tracks = useMemo(() => columns.map(({ width }) => width).join(' '), [columns]);
  return (
    <div
      className={styles['scroller']}
      ref={scroller}
      role="table"
      aria-label={label}
      aria-rowcount={(total ?? rows.length) + 1}
      tabIndex={0}
    >
      <div className={styles['head']} role="rowgroup">
        <div className={styles['row']} style={{ gridTemplateColumns: tracks }} role="row" aria-rowindex={1}>
          {columns.map((column) => (
            <HeadCell key={column.id} column={column} sorting={sorting} onSort={onSort} />
          ))}
        </div>
      </div>
      <div className={styles['body']} style={{ height: virtual.getTotalSize() }} role="rowgroup">
        {items.map(({ index, key, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return <Row key={key} row={row} columns={columns} tracks={tracks} index={index} top={start} />;
        })}
      </div>
    </div>
  );
}

interface RowProps<R> {
  row: R;
  columns: readonly Column<R>[];
  tracks: string;
  index: number;
  /** Pixels from the top of the list. */
  top: number;
}

/** Each step of scrolling draws the table; only the rows that come into sight are drawn with it. */
const Row = memo(function Row<R>({ row, columns, tracks, index, top }: RowProps<R>): ReactNode {
  return (
    <div
      className={styles['row']}
      style={{ gridTemplateColumns: tracks, transform: `translateY(${top}px)` }}
      role="row"
      aria-rowindex={index + 2}
    >
      {columns.map(({ id, align, cell }) => (
        <div key={id} className={styles['cell']} data-align={align} role="cell">
          {cell(row)}
        </div>
      ))}
    </div>
  );
}) as <R>(props: RowProps<R>) => ReactNode;

interface HeadCellProps<R> {
  column: Column<R>;
  sorting: Sorting | undefined;
  onSort: ((sorting: Sorting) => void) | undefined;
}

function HeadCell<R>({ column, sorting, onSort }: HeadCellProps<R>): ReactNode {
  const { id, header, align, isSortable } = column;
  const order = sorting?.by === id ? sorting.order : null;
  const said = order === null ? undefined : order === 'asc' ? 'ascending' : 'descending';
  return (
    <div className={styles['cell']} data-align={align} role="columnheader" aria-sort={said}>
      {isSortable && onSort ? (
        <button
          type="button"
          className={styles['sort']}
          onClick={() => onSort({ by: id, order: order === 'desc' ? 'asc' : 'desc' })}
        >
          {header}
          <Icon
            name={order === 'asc' ? 'arrowUp' : order === 'desc' ? 'arrowDown' : 'selector'}
            size={13}
            className={order === null ? styles['unsorted'] : undefined}
          />
        </button>
      ) : (
        header
      )}
    </div>
  );
}
