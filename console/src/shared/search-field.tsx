import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { type ReactNode, useEffect, useState } from 'react';
import { Icon } from './icons';

const DELAY_MS = 250;

interface SearchFieldProps {
  label: string;
  value: string | undefined;
  width?: number;
  onChange: (value: string | undefined) => void;
}

/** A text that the server searches for, once nobody has typed for a moment. */
export function SearchField({ label, value, width = 240, onChange }: SearchFieldProps): ReactNode {
  const [text, setText] = useState(value ?? '');
  const apply = useDebouncedCallback((typed: string) => onChange(typed === '' ? undefined : typed), DELAY_MS);
  useEffect(() => {
    if (value === undefined) setText('');
  }, [value]);
  return (
    <TextInput
      w={width}
      aria-label={label}
      placeholder={label}
      leftSection={<Icon name="search" />}
      value={text}
      onChange={({ currentTarget: { value: typed } }) => {
        setText(typed);
        apply(typed);
      }}
    />
  );
}
