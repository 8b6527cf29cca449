import { UnstyledButton } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Icon, type IconName } from '../../shared/icons';
import { texts } from '../../shared/texts';
import styles from './palette-button.module.css';

const Palette = lazy(() => import('./palette').then(({ Palette: component }) => ({ default: component })));

interface PaletteButtonProps {
  screens: readonly { to: string; icon: IconName; label: string }[];
}

/** Opens the palette, which is loaded when it is first wanted. */
export function PaletteButton({ screens }: PaletteButtonProps): ReactNode {
  // Each opening is counted, so that it works again after somebody has closed the palette.
  const [opened, setOpened] = useState(0);
  const open = () => setOpened((before) => before + 1);
  useHotkeys([['mod+K', open]], [], true);
  return (
    <>
      <UnstyledButton className={styles['find']} onClick={open} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" />
        <span className={styles['label']}>{texts.nav.find}</span>
        <kbd className={styles['key']}>{texts.palette.key}</kbd>
      </UnstyledButton>
      {opened > 0 && (
        <Suspense>
          <Palette screens={screens} opened={opened} />
        </Suspense>
      )}
    </>
  );
}
