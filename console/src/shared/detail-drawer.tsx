import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import { ProblemPanel } from './problem-panel';

interface DetailDrawerProps {
  title: string;
  width?: number;
  /** The error because of which there is no record. */
  error?: Error | null;
  onRetry?: () => unknown;
  onClose: () => void;
  children: ReactNode;
}

/** One record of a list, beside it. */
export function DetailDrawer({ title, width = 440, error, onRetry, onClose, children }: DetailDrawerProps): ReactNode {
  return (
    <Drawer opened onClose={onClose} position="right" size={width} title={<strong>{title}</strong>}>
      {error && <ProblemPanel error={error} onRetry={onRetry && (() => void onRetry())} />}
      {children}
    </Drawer>
  );
}
