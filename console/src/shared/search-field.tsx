import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { type ReactNode, useEffect, useState } from 'react';
import { Icon } from './icons';

/** Time without a key after which the server is asked. */
const DELAY_MS = 250;

interface SearchFieldProps {
  label: string;
  value: string | undefined;
  width?: number;
  /** 0 for a list that the browser has already. */
  delayMs?: number;
  onChange: (value: string | undefined) => void;
}

/** A text to search for, once nobody has typed for a moment. */
export function SearchField(props: SearchFieldProps): ReactNode {
  const { label, value, width = 260, delayMs = DELAY_MS, onChange } = props;
  const [text, setText] = useState(value ?? '');
  const apply = useDebouncedCallback((typed: string) => onChange(typed === '' ? undefined : typed), delayMs);
  useEffect(() => {
    if (!value) setText('');
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
