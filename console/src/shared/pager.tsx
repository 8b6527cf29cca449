import { Button } from '@mantine/core';
import type { ResultSet } from 'managed-spark/types';
import type { ReactNode } from 'react';
import styles from './pager.module.css';
import { number } from './texts';
import { commonTexts } from './common-texts';

interface PagerProps {
  of: ResultSet | undefined;
  onPage: (page: number | undefined) => void;
}

/** Leads through the pages of a list that the server divides. Says how many records there are. */
export function Pager({ of, onPage }: PagerProps): ReactNode {
  if (!of) return null;
  const { current_page: page, total_pages: pages, total_objects: total } = of;
  return (
    <div className={styles['pager']}>
      <span>{commonTexts.total(number(total), total)}</span>
      {pages > 1 && (
        <>
          <Button variant="default" disabled={page <= 1} onClick={() => onPage(page - 1 > 1 ? page - 1 : undefined)}>
            {commonTexts.previous}
          </Button>
          <span>{commonTexts.page(number(page), number(pages))}</span>
          <Button variant="default" disabled={page >= pages} onClick={() => onPage(page + 1)}>
            {commonTexts.next}
          </Button>
        </>
      )}
    </div>
  );
}
