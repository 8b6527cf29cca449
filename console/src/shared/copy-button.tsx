import { ActionIcon, Tooltip } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Icon } from './icons';
import { texts } from './texts';

export function CopyButton({ text, label = texts.problem.copy }: { text: string; label?: string }): ReactNode {
  const clipboard = useClipboard({ timeout: 1500 });
  const shown = clipboard.copied ? texts.problem.copied : label;
  return (
    <Tooltip label={shown}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={22}
        aria-label={shown}
        onClick={() => clipboard.copy(text)}
        style={{ verticalAlign: 'middle' }}
      >
        <Icon name={clipboard.copied ? 'check' : 'copy'} size={14} />
      </ActionIcon>
    </Tooltip>
  );
}
