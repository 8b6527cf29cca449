import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { EmptyState } from '../../shared/empty-state';
import { ProblemPanel } from '../../shared/problem-panel';
import { texts } from '../../shared/texts';
import { chooseTenant, tenantsQuery } from './session-api';

/** Stands in place of all screens until a tenant is selected. */
export function TenantScreen(): ReactNode {
  const queries = useQueryClient();
  const { data: tenants, error } = useQuery(tenantsQuery);
  const choose = useMutation({ mutationFn: (tenantId: string) => chooseTenant(queries, tenantId) });
  if (error) return <ProblemPanel error={error} />;
  if (!tenants) return null;
  const hint = tenants.data.length === 0 ? texts.tenant.noneHint : texts.tenant.chooseHint;
  return (
    <EmptyState icon="building" title={texts.tenant.choose} hint={hint}>
      {tenants.data.map(({ tenant_id: id, name }) => (
        <Button key={id} variant="default" size="sm" onClick={() => choose.mutate(id)}>
          {name}
        </Button>
      ))}
      {choose.isError && <ProblemPanel error={choose.error} />}
    </EmptyState>
  );
}
