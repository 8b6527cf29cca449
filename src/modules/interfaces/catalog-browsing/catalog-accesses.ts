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

/** Who looks, in which workspace, and into which catalog. */
export interface Requester {
  scope: WorkspaceScope;
  catalogId: number;
}

/** A catalog as one caller sees it. */
export interface OpenCatalog {
  access: MetastoreAccess;
  /** Catalogs of a Unity metastore that were chosen to be seen, the default one first; null for a metastore without. */
  unityCatalogs: readonly string[] | null;
  kind: MetastoreTarget['kind'];
  /** The servers that have the buckets of the tables. */
  s3(): Promise<S3Servers>;
  /** The secret that opens the stores of the tables, null where none is attached. */
  storageSecret(): Promise<RevealedSecret | null>;
}

/** Finds out what opens a catalog for who asks: where it is, and which secrets count. */
@Injectable()
export class CatalogAccesses {
  constructor(
    private readonly transactions: Transactions,
    private readonly catalogs: MetastoreCatalogsService,
    private readonly catalogSecrets: CatalogSecretsService,
    private readonly stores: CatalogStores,
    private readonly opener: MetastoreOpener,
  ) {}

  /** Two reads of the database, and one of the catalog's files for Hive; no secret is opened yet. */
  async open(browser: Requester): Promise<OpenCatalog> {
    const { scope, catalogId } = browser;
    const [catalog, secrets] = await this.transactions.read(async (tx) => [
      await this.catalogs.locate(tx, scope, catalogId),
      await this.catalogSecrets.nearest(tx, scope, scope.workspace.workspaceId, catalogId),
    ]);
    const revealed = (which: keyof NearestSecrets) =>
      this.transactions.read((tx) => this.reveal(tx, browser, secrets, which));
    const { target } = catalog;
    return {
      access: {
        tenantId: scope.tenantId,
        userId: scope.userId,
        catalogId,
        catalogName: catalog.name,
        key: JSON.stringify([catalogId, catalog.version, secrets.metastore?.key, secrets.storage?.key]),
        open: async () =>
          this.opener.open(target, { metastore: await revealed('metastore'), storage: await revealed('storage') }),
      },
      unityCatalogs: catalog.unityCatalogs,
      kind: target.kind,
      s3: () => this.transactions.read((tx) => this.stores.of(tx, scope, catalogId, catalog)),
      storageSecret: () => revealed('storage'),
    };
  }

  private async reveal(
    tx: Tx,
    { scope }: Requester,
    secrets: NearestSecrets,
    which: keyof NearestSecrets,
  ): Promise<RevealedSecret | null> {
    const secret = secrets[which];
    return secret && this.catalogSecrets.reveal(tx, scope, secret);
  }
}
