import { Injectable } from '@nestjs/common';
import type { RunMetastore } from '../../../../../libs/contracts/agent-protocol';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { asRefusal, DomainError } from '../../../../platform/kernel/errors/domain-error';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { type LockedCatalog, MetastoreCatalogsService, unusable } from '../../../infrastructure/metastores';
import { CatalogSecretsService } from './catalog-secrets.service';
import { OPENING_SECRETS } from './opening-secrets';

/** The owners of a run. The user is null if its submitter is unknown or must not matter. */
export interface RunOwner {
  workspace_id: number;
  created_by_user_id: number | null;
}

/** The metastores of runs by {@link ownerKey}, with their secrets. */
export type RunMetastores = ReadonlyMap<string, RunMetastore>;

/** Within a tenant, runs with the same key have the same owners. */
export function ownerKey({ workspace_id: workspaceId, created_by_user_id: userId }: RunOwner): string {
  return `${workspaceId}/${userId}`;
}

/** Opens the metastores of runs with the current secrets of their owners. */
@Injectable()
export class RunMetastoresService {
  constructor(
    private readonly catalogs: MetastoreCatalogsService,
    private readonly secrets: CatalogSecretsService,
  ) {}

  /** The result contains credentials: never log or store it. A metastore that cannot be opened is returned with its fault. */
  async forRuns(tx: Tx, tenantId: string, catalogId: number, owners: readonly RunOwner[]): Promise<RunMetastores> {
    const found = new Map<string, RunMetastore>();
    if (owners.length === 0) return found;
    const catalog = await this.catalogs.forRuns(tx, tenantId, catalogId);
    for (const [key, owner] of new Map(owners.map((one) => [ownerKey(one), one]))) {
      found.set(
        key,
        catalog.kind === 'locked' ? await this.open(tx, tenantId, { catalogId, catalog, owner }) : catalog,
      );
    }
    return found;
  }

  private async open(
    tx: Tx,
    tenantId: string,
    { catalogId, catalog, owner }: { catalogId: number; catalog: LockedCatalog; owner: RunOwner },
  ): Promise<RunMetastore> {
    const { name, unity } = catalog;
    try {
      const value = await this.valuesFor(tx, tenantId, unity ? 'unity' : 'glue', { catalogId, owner });
      if (unity) return { kind: 'unity', ...unity, token: value('token') };
      return {
        kind: 'glue',
        region: value('aws_default_region'),
        access_key_id: value('aws_access_key_id'),
        secret_access_key: value('aws_secret_access_key'),
      };
    } catch (error) {
      return unusable(name, asRefusal(error).message);
    }
  }

  /** Returns the values of the nearest secret by name; throws a DomainError that says what to attach. */
  private async valuesFor(
    tx: Tx,
    tenantId: string,
    kind: keyof typeof OPENING_SECRETS,
    { catalogId, owner }: { catalogId: number; owner: RunOwner },
  ): Promise<(name: string) => string> {
    const { role, type } = OPENING_SECRETS[kind];
    // For a run without a user, -1 is an id that no user has.
    const workspace = { workspaceId: owner.workspace_id, name: '', description: null, active: true };
    const scope: WorkspaceScope = { tenantId, userId: owner.created_by_user_id ?? -1, username: '', workspace };
    const { [role]: secret } = await this.secrets.nearest(tx, scope, workspace.workspaceId, catalogId);
    const requirement = `It requires a ${role} secret of type ${type}`;
    if (!secret) {
      const text = `${requirement}, but none is attached to it for the user who runs the job, the workspace or the tenant. Attach one.`;
      throw new DomainError('not-found', 'CATALOG_SECRET.MISSING', text);
    }
    const { type: found, values } = await this.secrets.reveal(tx, scope, secret);
    if (found !== type) {
      const text = `${requirement}, but the ${secret.scope} secret that is attached to it is of type ${found}. Attach one of the right type.`;
      throw new DomainError('conflict', 'CATALOG_SECRET.TYPE_MISMATCH', text);
    }
    return (name) => values[name] ?? '';
  }
}
