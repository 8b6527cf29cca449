import { Injectable } from '@nestjs/common';
import type { MetastoreTarget } from '../../../../libs/metastore-clients/open-metastore';
import type { WorkspaceScope } from '../../../platform/kernel/auth/principal';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import { CatalogSecretsService, type NearestSecrets, type RevealedSecret } from '../../execution/user-secrets';
import { MetastoreCatalogsService, type S3Servers } from '../../infrastructure/metastores';
import { CatalogStores } from './catalog-stores';
import { MetastoreOpener } from './metastore-opener';
import type { MetastoreAccess } from './metastores';

/** The caller with the workspace, and the catalog that the caller browses. */
export interface Requester {
  scope: WorkspaceScope;
  catalogId: number;
}

/** A catalog with the access of one requester. */
export interface OpenCatalog {
  access: MetastoreAccess;
  /** The selected catalogs of a Unity metastore, the default one first; null for other metastores. */
  unityCatalogs: readonly string[] | null;
  kind: MetastoreTarget['kind'];
  s3(): Promise<S3Servers>;
  /** Returns the secret for the object stores of the tables; null if none is attached. */
  storageSecret(): Promise<RevealedSecret | null>;
}

/** Finds the servers of a catalog and the secrets that apply to a requester. */
@Injectable()
export class CatalogAccesses {
  constructor(
    private readonly transactions: Transactions,
    private readonly catalogs: MetastoreCatalogsService,
    private readonly catalogSecrets: CatalogSecretsService,
    private readonly stores: CatalogStores,
    private readonly opener: MetastoreOpener,
  ) {}

  /** Reads the database twice, and for Hive the catalog's files. Decrypts no secret yet. */
  async open(requester: Requester): Promise<OpenCatalog> {
    const { scope, catalogId } = requester;
    const [catalog, secrets] = await this.transactions.read(async (tx) => [
      await this.catalogs.locate(tx, scope, catalogId),
      await this.catalogSecrets.nearest(tx, scope, scope.workspace.workspaceId, catalogId),
    ]);
    const reveal = (role: keyof NearestSecrets) =>
      this.transactions.read((tx) => this.revealOf(tx, requester, secrets, role));
    const { target } = catalog;
    return {
      access: {
        tenantId: scope.tenantId,
        userId: scope.userId,
        catalogId,
        catalogName: catalog.name,
        key: JSON.stringify([catalogId, catalog.version, secrets.metastore?.key, secrets.storage?.key]),
        open: async () =>
          this.opener.open(target, { metastore: await reveal('metastore'), storage: await reveal('storage') }),
      },
      unityCatalogs: catalog.unityCatalogs,
      kind: target.kind,
      s3: () => this.transactions.read((tx) => this.stores.of(tx, scope, catalogId, catalog)),
      storageSecret: () => reveal('storage'),
    };
  }

  private async revealOf(
    tx: Tx,
    { scope }: Requester,
    secrets: NearestSecrets,
    role: keyof NearestSecrets,
  ): Promise<RevealedSecret | null> {
    const secret = secrets[role];
    return secret && this.catalogSecrets.reveal(tx, scope, secret);
  }
}
