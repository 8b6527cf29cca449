import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { DetailDrawer } from '../../shared/detail-drawer';
import { sqlTexts as t } from '../../shared/sql-texts';
import { RelativeTime, useNow } from '../../shared/time';
import styles from './history-drawer.module.css';
import type { KeptQuery, SqlStorage } from './sql-storage';

interface HistoryDrawerProps {
  storage: SqlStorage;
  onOpen: (kept: KeptQuery) => void;
  onClose: () => void;
}

/** Lists the statements that were run in this browser, the newest first. */
export function HistoryDrawer({ storage, onOpen, onClose }: HistoryDrawerProps): ReactNode {
  const now = useNow(10_000);
  const [all, setAll] = useState(() => storage.history());
  const clear = () => {
    storage.clear();
    setAll([]);
  };
  return (
    <DetailDrawer title={t.historyTitle} width={560} onClose={onClose}>
      <p className={styles['hint']}>{all.length === 0 ? t.historyNone : t.historyHint}</p>
      <ul className={styles['list']}>
        {all.map((kept) => (
          <li key={kept.id}>
            <div className={styles['line']}>
              <RelativeTime at={new Date(kept.at).toISOString()} now={now} />
              <span>{outcomeOf(kept)}</span>
              <Button variant="default" onClick={() => onOpen(kept)}>
                {t.historyOpen}
              </Button>
            </div>
            <pre className={styles['text']}>{shownText(kept)}</pre>
          </li>
        ))}
      </ul>
      {all.length > 0 && (
        <Button variant="default" onClick={clear}>
          {t.historyClear}
        </Button>
      )}
    </DetailDrawer>
  );
}

function shownText({ executions, text }: KeptQuery): string {
  const ran = executions.map(({ text: statement }) => statement).join(';\n');
  return (ran === '' ? text : ran).slice(0, 1_000);
}

function outcomeOf({ executions }: KeptQuery): string {
  const worst = executions.find(({ state }) => state !== 'done') ?? executions[0];
  return worst ? t.states[worst.state] : '';
}
