import { SegmentedControl } from '@mantine/core';
import type { ReactNode } from 'react';
import { adminTexts } from '../../shared/admin-texts';
import type { AdminSearch } from './admin-search';

interface ScopeChoiceProps {
  search: AdminSearch;
  change: (part: Partial<AdminSearch>) => void;
}

/** Chooses between the accounts of the tenant and those of the whole directory. */
export function ScopeChoice({ search, change }: ScopeChoiceProps): ReactNode {
  return (
    <SegmentedControl
      size="xs"
      aria-label={adminTexts.scope.label}
      data={[
        { value: '', label: adminTexts.scope.tenant },
        { value: 'true', label: adminTexts.scope.all },
      ]}
      value={search.all ?? ''}
      onChange={(all) => change({ all: all === 'true' ? 'true' : undefined, page: undefined })}
    />
  );
}
