import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { adminTexts as texts } from '../../shared/admin-texts';
import { Page } from '../../shared/page';
import styles from './admin.module.css';

const SECTIONS = ['users', 'groups', 'secrets', 'tokens', 'audit'] as const;

interface AdminPageProps {
  section: (typeof SECTIONS)[number];
  actions?: ReactNode;
  children: ReactNode;
}

/** A screen of the administration, with the way to the others. */
export function AdminPage({ section, actions, children }: AdminPageProps): ReactNode {
  return (
    <Page
      title={texts.sections[section]}
      trail={texts.title}
      subtitle={texts.subtitles[section]}
      actions={actions}
      fill
    >
      <nav className={styles['sections']} aria-label={texts.title}>
        {SECTIONS.map((one) => (
          <Link key={one} to={`/admin/${one}`} className={styles['section']} activeProps={{ 'aria-current': 'page' }}>
            {texts.sections[one]}
          </Link>
        ))}
      </nav>
      {children}
    </Page>
  );
}
