import { Injectable } from '@nestjs/common';
import type { TenantScope, WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { conflict } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import type { RevealedSecret } from '../scoped-secrets/scoped-secrets.service';
import { SecretsOfTenantService } from '../scoped-secrets/secrets-of-tenant.service';
import { SecretsOfUserService } from '../scoped-secrets/secrets-of-user.service';
import { SecretsOfWorkspaceService } from '../scoped-secrets/secrets-of-workspace.service';
import { NearestSecretsRepository, type SecretsOfScope } from './catalog-secrets.repository';

export interface NearestSecret {
  scope: 'user' | 'workspace' | 'tenant';
  id: number;
  /** Identifies the secret and its version: scope, id and last update. */
  key: string;
  /** True if the catalog names other servers than when the secret was attached. It must not be sent to those. */
  isOutdated: boolean;
}

export interface NearestSecrets {
  metastore: NearestSecret | null;
  storage: NearestSecret | null;
}

/** Finds and opens the secrets that open a catalog for a user. */
@Injectable()
export class CatalogSecretsService {
  constructor(
    private readonly repository: NearestSecretsRepository,
    private readonly ofTenant: SecretsOfTenantService,
    private readonly ofWorkspace: SecretsOfWorkspaceService,
    private readonly ofUser: SecretsOfUserService,
  ) {}

  /** Returns the secrets that apply to a user in a workspace. For each role, the order is user, workspace, tenant. */
  async nearest(tx: Tx, scope: TenantScope, workspaceId: number, catalogId: number): Promise<NearestSecrets> {
    const found = await this.repository.nearest(tx, scope, workspaceId, catalogId);
    return { metastore: nearestOf(found, 'metastore_secret'), storage: nearestOf(found, 'storage_secret') };
  }

  /** Decrypts a secret. Never log or return its values. Throws a 409 if it was attached for other servers. */
  async reveal(tx: Tx, scope: WorkspaceScope, secret: NearestSecret): Promise<RevealedSecret> {
    if (secret.isOutdated) {
      const text = `The ${secret.scope} secret was attached before the servers of the catalog were changed. Attach it again if the new servers may receive it.`;
      throw conflict('CATALOG_SECRET.OUTDATED', text);
    }
    switch (secret.scope) {
      case 'user':
        return this.ofUser.reveal(tx, scope, secret.id);
      case 'workspace':
        return this.ofWorkspace.reveal(tx, scope, secret.id);
      case 'tenant':
        return this.ofTenant.reveal(tx, scope, secret.id);
    }
  }
}

function nearestOf(
  found: readonly SecretsOfScope[],
  role: 'metastore_secret' | 'storage_secret',
): NearestSecret | null {
  for (const secrets of found) {
    const {
      scope,
      is_outdated: isOutdated,
      [`${role}_id` as const]: id,
      [`${role}_version` as const]: version,
    } = secrets;
    if (id !== null) return { scope, id, key: `${scope} ${id} ${version}`, isOutdated };
  }
  return null;
}
