import type { ReactNode } from 'react';
import { adminTexts } from '../../shared/admin-texts';
import { Icon } from '../../shared/icons';
import styles from './admin.module.css';

/** Says whether an account can be used: a picture, a word and a colour. */
export function EnabledBadge({ isEnabled }: { isEnabled: boolean }): ReactNode {
  return (
    <span className={styles['outcome']} data-outcome={isEnabled ? 'done' : 'refused'}>
      <Icon name={isEnabled ? 'done' : 'killed'} />
      {isEnabled ? adminTexts.enabled : adminTexts.disabled}
    </span>
  );
}
