import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import type { Place } from '../../shared/catalogs';
import { dataTexts as t } from '../../shared/data-texts';
import { Icon } from '../../shared/icons';
import { ProblemPanel } from '../../shared/problem-panel';
import { SearchField } from '../../shared/search-field';
import { schemasQuery } from './data-api';
import styles from './schema-list.module.css';

const ROW_HEIGHT = 34;

interface SchemaListProps {
  place: Place;
  selected: string | undefined;
  onChange: (schema: string) => void;
}

/** The schemas of a catalog, however many there are. */
export function SchemaList({ place, selected, onChange }: SchemaListProps): ReactNode {
  const { data: schemas, error, refetch } = useQuery(schemasQuery(place));
  const [q, setQ] = useState('');
  const scroller = useRef<HTMLUListElement>(null);
  const shown = useMemo(
    () => (schemas ?? []).filter(({ name }) => name.toLowerCase().includes(q.toLowerCase())),
    [schemas, q],
  );
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
  });
  return (
    <nav className={styles['pane']} aria-label={t.schemas}>
      <SearchField label={t.searchSchemas} value={q} width={220} delayMs={0} onChange={(text) => setQ(text ?? '')} />
      {error && <ProblemPanel error={error} onRetry={() => void refetch()} />}
      <ul className={styles['list']} ref={scroller}>
        <li aria-hidden="true" style={{ height: virtual.getTotalSize() }} />
        {virtual.getVirtualItems().map(({ index, start }) => {
          const schema = shown[index];
          if (!schema) return null;
          return (
            <li key={schema.name} className={styles['item']} style={{ transform: `translateY(${start}px)` }}>
              <button
                type="button"
                aria-current={schema.name === selected || undefined}
                title={schema.comment ?? schema.name}
                onClick={() => onChange(schema.name)}
              >
                <Icon name="data" size={14} />
                <span>{schema.name}</span>
              </button>
            </li>
          );
        })}
      </ul>
      {schemas && shown.length === 0 && <p className={styles['none']}>{t.noSchema}</p>}
    </nav>
  );
}
