import { Injectable } from '@nestjs/common';
import { rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';

/** Whose secrets a run may use: those of the user who submitted it, of its workspace and of its tenant. */
export interface RunOwners {
  tenantId: string;
  workspaceId: number;
  /** Null for a run that nobody submitted. */
  userId: number | null;
}

/** What a name means to a run: the secret of the nearest owner; all but the name null when no owner has one. */
export interface SecretOfRun {
  name: string;
  scope: 'user' | 'workspace' | 'tenant' | null;
  id: number;
  secret_type_id: number;
  /** Null for a secret of another type than was asked for. */
  sealed: Buffer | null;
  wrapped_key: Buffer | null;
}

const ONE = (scope: string, rank: number, owner: string) => `
  SELECT ${rank} AS rank, '${scope}' AS scope, t.${scope}_secret_id AS id, t.secret_type_id, t.sealed
  FROM ${scope}_secrets t
  WHERE ${ofTenant('t', '$1')} ${owner} AND t.name = w.name AND t.to_date = 'infinity'`;

/** The nearest secret of each name, with its values only if it is of the type. */
const NEAREST = `
  SELECT w.name, f.scope, f.id, f.secret_type_id, k.wrapped_key,
    CASE WHEN f.secret_type_id = $5 THEN f.sealed END AS sealed
  FROM unnest($4::text[]) AS w (name)
  LEFT JOIN LATERAL (
    SELECT * FROM (
      ${ONE('user', 1, 'AND t.user_id = $3')} UNION ALL
      ${ONE('workspace', 2, 'AND t.workspace_id = $2')} UNION ALL
      ${ONE('tenant', 3, '')}
    ) owned ORDER BY rank LIMIT 1
  ) f ON TRUE
  LEFT JOIN tenant_data_keys k ON ${ofTenant('k', '$1')}`;

@Injectable()
export class RunSecretsRepository {
  /** One row for each name. */
  nearest(tx: Tx, owners: RunOwners, names: readonly string[], typeId: number): Promise<SecretOfRun[]> {
    const { tenantId, workspaceId, userId } = owners;
    return rows<SecretOfRun>(tx, NEAREST, [tenantId, workspaceId, userId, names, typeId]);
  }
}
