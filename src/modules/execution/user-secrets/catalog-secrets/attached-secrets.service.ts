import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import { assertChanges } from '../../../../platform/http/changes';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import type { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ResourceService } from '../../../../platform/http/resources/resource-service';
import { catalogDetails, catalogTypeOf, type MetastoreCatalogsService } from '../../../infrastructure/metastores';
import { CATALOG_TYPE_ID, type CatalogTypeName, type ReferenceData } from '../../../foundation/reference-data';
import { assertFits, assertOpens, type SecretRole } from './attachable';
import type {
  AttachedSecret,
  CatalogSecretRow,
  CatalogSecretsRepository,
  HeldSecret,
} from './catalog-secrets.repository';
import type { AskedSecrets, CatalogSecretListQuery } from './dto/catalog-secret.dto';
import type { CatalogSecret } from './entities/catalog-secret.entity';

/** A request to attach secrets. */
export interface Attachment extends AskedSecrets {
  catalogId: number;
}

/** What differs from scope to scope in how associations are listed and answered. */
interface AssociationAnswers {
  read: object;
  write: object;
  listQuery: CatalogSecretListQuery;
}

/**
 * Associations of the secrets of one scope with catalogs, at most one of each owner with a catalog (ADR 0031). Catalog,
 * secrets and owner are locked in this order, and none of them goes or changes while it is attached.
 */
export abstract class AttachedSecretsService<
  E extends CatalogSecret,
  A extends AssociationAnswers,
  Scope extends TenantScope = TenantScope,
> extends ResourceService<
  {
    entity: E;
    row: CatalogSecretRow<E>;
    create: Attachment;
    update: AskedSecrets;
    read: A['read'];
    write: A['write'];
    listQuery: A['listQuery'];
  },
  Scope
> {
  protected constructor(
    transactions: Transactions,
    protected override readonly repository: CatalogSecretsRepository<E, Scope>,
    private readonly catalogs: MetastoreCatalogsService,
    private readonly referenceData: ReferenceData,
  ) {
    super(transactions, repository);
  }

  /** The columns that say whose the secrets are, which must all be of that owner; holds the owner until `tx` ends. */
  protected abstract ownerOf(
    tx: Tx,
    scope: Scope,
    secrets: readonly HeldSecret[],
    before: CatalogSecretRow<E> | null,
  ): Promise<Values<E>>;

  protected filter(query: A['listQuery']): ResourceFilter<E> {
    const { catalog_type: type, metastore_catalog_id, metastore_catalog_name, ...own } = query;
    return this.repository.asked({
      id: (own as Readonly<Record<string, unknown>>)[this.repository.idColumn] as number | undefined,
      catalogId: metastore_catalog_id,
      catalogTypeId: type === undefined ? undefined : CATALOG_TYPE_ID[type as CatalogTypeName],
      partOfCatalogName: metastore_catalog_name,
    });
  }

  protected async columnsOfNew(scope: Scope, { catalogId, ...secrets }: Attachment, tx: Tx): Promise<Values<E>> {
    const catalog = await this.catalogs.getRow(scope, { id: catalogId }, tx);
    const type = catalogTypeOf(catalog, this.referenceData).name as CatalogTypeName;
    assertOpens(type, secrets);
    return columns<E>({
      metastore_catalog_id: catalogId,
      place_version: catalog.place_version,
      ...(await this.attached(tx, scope, type, secrets, null)),
    });
  }

  /** Catalogs are locked before their associations, as where a catalog is deleted. */
  protected override async lockUsers(tx: Tx, scope: Scope, id: number): Promise<void> {
    const row = await this.repository.get(scope, { id }, tx);
    await this.catalogs.getRow(scope, { id: row.metastore_catalog_id }, tx);
  }

  protected async columnsOfChanged(
    scope: Scope,
    row: CatalogSecretRow<E>,
    secrets: AskedSecrets,
    tx: Tx,
  ): Promise<Values<E>> {
    assertChanges(secrets);
    const type = catalogTypeOf(row.catalog, this.referenceData).name as CatalogTypeName;
    // Whoever changes it sees where the catalog leads now.
    const place = columns<E>({ place_version: row.catalog.place_version });
    const changed = { ...(await this.attached(tx, scope, type, secrets, row)), ...place };
    const { metastore_secret_id: metastore, storage_secret_id: storage } = row;
    if ((secrets.metastore === undefined ? metastore : secrets.metastore) !== null) return changed;
    if ((secrets.storage === undefined ? storage : secrets.storage) !== null) return changed;
    const text = `The catalog "${row.name}" would be left without any of these secrets. Detach them as a whole instead.`;
    throw invalid('CATALOG_SECRET.NONE_LEFT', text);
  }

  protected async assertDeletable(scope: Scope, row: CatalogSecretRow<E>, tx: Tx): Promise<void> {
    await this.ownerOf(tx, scope, [], row);
  }

  /** What every read answers. */
  protected readCommon(row: CatalogSecretRow<E>) {
    const { metastore_catalog_id, name, description } = row.catalog;
    const { name: catalog_type } = catalogTypeOf(row.catalog, this.referenceData);
    return {
      metastore_catalog: { metastore_catalog_id, name, description, catalog_type },
      metastore_details: catalogDetails(row.catalog),
      tenant_id: row.tenant_id,
      ...readAudit(row),
    };
  }

  /** A secret without the id, which answers call differently for each scope. */
  protected secretRef({ name, description, secret_type_id: id }: AttachedSecret) {
    return { name, description, secret_type: requireRecord(this.referenceData.secretType(id), 'secret type', id).name };
  }

  /** What every write answers. */
  protected writeCommon(row: CatalogSecretRow<E>) {
    return { metastore_catalog_id: idText(row.metastore_catalog_id), ...writeAudit(row) };
  }

  /** Checks and holds the secrets that are asked for. */
  private async attached(
    tx: Tx,
    scope: Scope,
    type: CatalogTypeName,
    { metastore, storage }: AskedSecrets,
    before: CatalogSecretRow<E> | null,
  ): Promise<Values<E>> {
    const asked: readonly (readonly [SecretRole, number | null | undefined])[] = [
      ['metastore', metastore],
      ['storage', storage],
    ];
    const named = asked.flatMap(([role, id]) => (typeof id === 'number' ? [{ role, id }] : []));
    const ids = [...new Set(named.map(({ id }) => id))];
    const held = ids.length === 0 ? [] : await this.repository.holdSecrets(tx, scope, ids);
    const owner = await this.ownerOf(tx, scope, held, before);
    for (const { role, id } of named) {
      for (const secret of held) if (secret.id === id) assertFits(type, role, secret, this.referenceData);
    }
    return { ...columns<E>({ metastore_secret_id: metastore, storage_secret_id: storage }), ...owner };
  }
}

/** What every table of associations has, for one of them. */
function columns<E extends CatalogSecret>(values: Values<CatalogSecret>): Values<E> {
  return values as Values<E>;
}
