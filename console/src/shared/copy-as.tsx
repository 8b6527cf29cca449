import { Button, Menu } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { api } from '../api/client';
import { type Call, curlOf, pythonOf } from './call-texts';
import { commonTexts } from './common-texts';
import { Icon } from './icons';
import { texts } from './texts';

const t = commonTexts.copyAs;

interface CopyAsProps {
  call: Call;
  /** The command of `msp` that shows the same, if there is one. */
  command?: string;
}

/** Copies the request behind a view, for a shell or a program. */
export function CopyAs({ call, command }: CopyAsProps): ReactNode {
  const clipboard = useClipboard({ timeout: 1500 });
  const copies = [
    [t.curl, () => curlOf(api.url, call)],
    [t.python, () => pythonOf(call)],
    ...(command === undefined ? [] : [[t.command, () => command] as const]),
  ] as const;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" rightSection={<Icon name={clipboard.copied ? 'check' : 'chevronDown'} size={14} />}>
          {clipboard.copied ? texts.problem.copied : t.label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {copies.map(([label, text]) => (
          <Menu.Item key={label} leftSection={<Icon name="copy" size={14} />} onClick={() => clipboard.copy(text())}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
