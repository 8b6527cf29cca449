import { Button, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon, type IconName } from './icons';

interface ChoiceFilterProps<V extends string | number> {
  label: string;
  icon?: IconName;
  options: readonly { value: V | null; label: string }[];
  selected: V | null;
  onChange: (selected: V | null) => void;
}

/** A filter of which one value is chosen. */
export function ChoiceFilter<V extends string | number>(props: ChoiceFilterProps<V>): ReactNode {
  const { label, icon, options, selected, onChange } = props;
  const chosen = options.find(({ value }) => value === selected)?.label ?? label;
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button
          variant="default"
          aria-label={`${label}: ${chosen}`}
          leftSection={icon ? <Icon name={icon} /> : null}
          rightSection={<Icon name="chevronDown" size={14} />}
        >
          {chosen}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        {options.map(({ value, label: text }) => (
          <Menu.Item
            key={String(value)}
            role="menuitemradio"
            aria-checked={value === selected}
            onClick={() => onChange(value)}
            rightSection={value === selected ? <Icon name="check" size={14} /> : null}
          >
            {text}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
