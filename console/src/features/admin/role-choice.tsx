import { SegmentedControl } from '@mantine/core';
import type { ReactNode } from 'react';
import { adminTexts } from '../../shared/admin-texts';
import styles from './admin.module.css';
import { TENANT_ROLES } from './people-api';

export type TenantRole = (typeof TENANT_ROLES)[number];

interface RoleChoiceProps {
  label: string;
  role: TenantRole;
  onChange: (role: TenantRole) => void;
}

/** Chooses a role in the tenant, and says what it means. */
export function RoleChoice({ label, role, onChange }: RoleChoiceProps): ReactNode {
  return (
    <div className={styles['block']}>
      <span className={styles['plain']}>{label}</span>
      <SegmentedControl
        size="xs"
        aria-label={label}
        data={[...TENANT_ROLES]}
        value={role}
        onChange={(value) => onChange(TENANT_ROLES.find((one) => one === value) ?? 'USER')}
      />
      <span className={styles['note']}>{adminTexts.users.roleMeaning[role]}</span>
    </div>
  );
}
