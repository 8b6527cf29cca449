import { useEffect, type ReactNode } from 'react';
import styles from './page.module.css';
import { texts } from './texts';

interface PageProps {
  title: string;
  /** Stands above the title, for the way back. */
  trail?: ReactNode;
  /** Stands beside the title. */
  badge?: ReactNode;
  /** Stands below the title. */
  subtitle?: ReactNode;
  actions?: ReactNode;
  /** True if the content fills the window and scrolls by itself. */
  fill?: boolean;
  children: ReactNode;
}

/** A screen below the shell: its title, its actions and its content. */
export function Page({ title, trail, badge, subtitle, actions, fill, children }: PageProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
  }, [title]);
  return (
    <div className={styles['page']} data-fill={fill || undefined}>
      <header className={styles['header']}>
        <div className={styles['titles']}>
          {trail && <div className={styles['trail']}>{trail}</div>}
          <div className={styles['line']}>
            <h1 className={styles['title']}>{title}</h1>
            {badge}
          </div>
          {subtitle && <div className={styles['subtitle']}>{subtitle}</div>}
        </div>
        {actions && <div className={styles['actions']}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}
