import { Button, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from './icons';

interface MultiFilterProps {
  label: string;
  options: readonly { value: string; label: ReactNode }[];
  selected: readonly string[];
  onChange: (selected: string[]) => void;
}

/** A filter of which several values may be chosen. */
export function MultiFilter({ label, options, selected, onChange }: MultiFilterProps): ReactNode {
  const toggle = (value: string) =>
    onChange(selected.includes(value) ? selected.filter((one) => one !== value) : [...selected, value]);
  return (
    <Menu closeOnItemClick={false} position="bottom-start">
      <Menu.Target>
        <Button variant="default" rightSection={<Icon name="chevronDown" size={14} />}>
          {selected.length === 0 ? label : `${label}: ${selected.length}`}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {options.map((option) => (
          <Menu.Item
            key={option.value}
            role="menuitemcheckbox"
            aria-checked={selected.includes(option.value)}
            onClick={() => toggle(option.value)}
            rightSection={selected.includes(option.value) ? <Icon name="check" size={14} /> : null}
          >
            {option.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
