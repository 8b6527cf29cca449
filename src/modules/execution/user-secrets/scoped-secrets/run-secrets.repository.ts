import { Injectable } from '@nestjs/common';
import { rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';

/** The owners whose secrets a run may use: its submitter, its workspace and its tenant. */
export interface RunOwners {
  tenantId: string;
  workspaceId: number;
  /** Null for a run without a submitter. */
  userId: number | null;
}

/** The secret of the nearest owner for a name. All fields but the name are null if no owner has such a secret. */
export interface SecretOfRun {
  name: string;
  scope: 'user' | 'workspace' | 'tenant' | null;
  id: number;
  secret_type_id: number;
  /** Null if the secret is not of the requested type. */
  sealed: Buffer | null;
  wrapped_key: Buffer | null;
}

const ownedBy = (scope: string, rank: number, owner: string) => `
  SELECT ${rank} AS rank, '${scope}' AS scope, t.${scope}_secret_id AS id, t.secret_type_id, t.sealed
  FROM ${scope}_secrets t
  WHERE ${ofTenant('t', '$1')} ${owner} AND t.name = w.name AND t.to_date = 'infinity'`;

/** Selects the nearest secret of each name, with its values only if it has the requested type. */
const NEAREST = `
  SELECT w.name, f.scope, f.id, f.secret_type_id, k.wrapped_key,
    CASE WHEN f.secret_type_id = $5 THEN f.sealed END AS sealed
  FROM unnest($4::text[]) AS w (name)
  LEFT JOIN LATERAL (
    SELECT * FROM (
      ${ownedBy('user', 1, 'AND t.user_id = $3')} UNION ALL
      ${ownedBy('workspace', 2, 'AND t.workspace_id = $2')} UNION ALL
      ${ownedBy('tenant', 3, '')}
    ) owned ORDER BY rank LIMIT 1
  ) f ON TRUE
  LEFT JOIN tenant_data_keys k ON ${ofTenant('k', '$1')}`;

@Injectable()
export class RunSecretsRepository {
  nearest(tx: Tx, owners: RunOwners, names: readonly string[], typeId: number): Promise<SecretOfRun[]> {
    const { tenantId, workspaceId, userId } = owners;
    return rows<SecretOfRun>(tx, NEAREST, [tenantId, workspaceId, userId, names, typeId]);
  }
}
