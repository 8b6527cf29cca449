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
  LockedSecret,
} from './catalog-secrets.repository';
import type { RequestedSecrets, CatalogSecretListQuery } from './dto/catalog-secret.dto';
import type { CatalogSecret } from './entities/catalog-secret.entity';

export interface Attachment extends RequestedSecrets {
  catalogId: number;
}

/** The DTOs of the attachments of one scope. */
interface AttachmentTypes {
  read: object;
  write: object;
  listQuery: CatalogSecretListQuery;
}

/**
 * Attachments of the secrets of one scope to catalogs, at most one for each owner and catalog (ADR 0031). Catalog, secrets and
 * owner are locked in this order, so none of them is deleted or changed while an attachment is written.
 */
export abstract class AttachedSecretsService<
  E extends CatalogSecret,
  A extends AttachmentTypes,
  Scope extends TenantScope = TenantScope,
> extends ResourceService<
  {
    entity: E;
    row: CatalogSecretRow<E>;
    create: Attachment;
    update: RequestedSecrets;
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

  /** Returns the columns of the owner, to whom all secrets must belong, and locks the owner until `tx` ends. */
  protected abstract ownerOf(
    tx: Tx,
    scope: Scope,
    secrets: readonly LockedSecret[],
    before: CatalogSecretRow<E> | null,
  ): Promise<Values<E>>;

  protected filter(query: A['listQuery']): ResourceFilter<E> {
    const { catalog_type: type, metastore_catalog_id, metastore_catalog_name, ...own } = query;
    return this.repository.filter({
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
      ...(await this.lockAttached(tx, scope, type, secrets, null)),
    });
  }

  /** Locks the catalog before its attachments, in the same order as the deletion of a catalog. */
  protected override async lockUsers(tx: Tx, scope: Scope, id: number): Promise<void> {
    const row = await this.repository.get(scope, { id }, tx);
    await this.catalogs.getRow(scope, { id: row.metastore_catalog_id }, tx);
  }

  protected async columnsOfChanged(
    scope: Scope,
    row: CatalogSecretRow<E>,
    secrets: RequestedSecrets,
    tx: Tx,
  ): Promise<Values<E>> {
    assertChanges(secrets);
    const type = catalogTypeOf(row.catalog, this.referenceData).name as CatalogTypeName;
    // The caller has seen which servers the catalog names now.
    const place = columns<E>({ place_version: row.catalog.place_version });
    const changed = { ...(await this.lockAttached(tx, scope, type, secrets, row)), ...place };
    const { metastore_secret_id: metastore, storage_secret_id: storage } = row;
    if ((secrets.metastore === undefined ? metastore : secrets.metastore) !== null) return changed;
    if ((secrets.storage === undefined ? storage : secrets.storage) !== null) return changed;
    const text = `The catalog "${row.name}" would be left without any of these secrets. Detach them as a whole instead.`;
    throw invalid('CATALOG_SECRET.NONE_LEFT', text);
  }

  protected async assertDeletable(scope: Scope, row: CatalogSecretRow<E>, tx: Tx): Promise<void> {
    await this.ownerOf(tx, scope, [], row);
  }

  /** The fields of every read response. */
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

  /** Returns a secret without its id, whose name in responses depends on the scope. */
  protected secretRef({ name, description, secret_type_id: id }: AttachedSecret) {
    return { name, description, secret_type: requireRecord(this.referenceData.secretType(id), 'secret type', id).name };
  }

  /** The fields of every write response. */
  protected writeCommon(row: CatalogSecretRow<E>) {
    return { metastore_catalog_id: idText(row.metastore_catalog_id), ...writeAudit(row) };
  }

  private async lockAttached(
    tx: Tx,
    scope: Scope,
    type: CatalogTypeName,
    { metastore, storage }: RequestedSecrets,
    before: CatalogSecretRow<E> | null,
  ): Promise<Values<E>> {
    const requested: readonly (readonly [SecretRole, number | null | undefined])[] = [
      ['metastore', metastore],
      ['storage', storage],
    ];
    const named = requested.flatMap(([role, id]) => (typeof id === 'number' ? [{ role, id }] : []));
    const ids = [...new Set(named.map(({ id }) => id))];
    const locked = ids.length === 0 ? [] : await this.repository.lockSecrets(tx, scope, ids);
    const owner = await this.ownerOf(tx, scope, locked, before);
    for (const { role, id } of named) {
      for (const secret of locked) if (secret.id === id) assertFits(type, role, secret, this.referenceData);
    }
    return { ...columns<E>({ metastore_secret_id: metastore, storage_secret_id: storage }), ...owner };
  }
}

/** Types the columns that all attachment tables share for one of them. */
function columns<E extends CatalogSecret>(values: Values<CatalogSecret>): Values<E> {
  return values as Values<E>;
}
