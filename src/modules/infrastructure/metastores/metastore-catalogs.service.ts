import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { SecretBoxError } from '../../../../libs/secret-box/secret-box';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { asRefusal, conflict, DomainError, notFound } from '../../../platform/kernel/errors/domain-error';
import type { Page } from '../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../platform/kernel/dto/selector';
import { tableOf } from '../../../platform/kernel/persistence/entity-table';
import type { Tx } from '../../../platform/kernel/persistence/sql';
import { CATALOG_TYPE_ID, type CatalogTypeName, ReferenceData } from '../../foundation/reference-data';
import { TenantSecretsService } from '../../foundation/secrets';
import { readCatalog } from './catalog-answers';
import { type CatalogForRuns, type CatalogPlace, type HivePlace, hivePlaceOf, unusable } from './catalog-place';
import type {
  MetastoreCatalogListQuery,
  MetastoreCatalogRead,
  MetastoreCatalogSearchQuery,
} from './dto/metastore-catalog.dto';
import { MetastoreCatalog, type UnityCatalogDetails } from './entities/metastore-catalog.entity';
import { type HiveFiles, readHiveFiles } from './hive-files';
import { catalogTypeOf } from './metastore-catalogs.joins';
import { type MetastoreCatalogRow, MetastoreCatalogsRepository } from './metastore-catalogs.repository';

const KEPT_PLACES = 1_000;

/** Metastore catalogs of every type, for whoever lists or uses them. */
@Injectable()
export class MetastoreCatalogsService {
  /** By id and version: reading the files again for each request would take longer than all else. */
  private readonly hivePlaces = new LRUCache<string, HivePlace>({ max: KEPT_PLACES });

  constructor(
    private readonly repository: MetastoreCatalogsRepository,
    private readonly referenceData: ReferenceData,
    private readonly secrets: TenantSecretsService,
  ) {}

  async list(
    scope: TenantScope,
    query: MetastoreCatalogListQuery | MetastoreCatalogSearchQuery,
  ): Promise<Page<MetastoreCatalogRead>> {
    const { catalog_type: type } = query;
    const typeId = type === undefined ? undefined : CATALOG_TYPE_ID[type as CatalogTypeName];
    const page = await this.repository.list(
      scope,
      query,
      (conditions) => {
        conditions.only('metastore_catalog_type_id', typeId);
        if ('metastore_catalog_id' in query) conditions.only('metastore_catalog_id', query.metastore_catalog_id);
      },
      'metastore_catalog_name' in query ? query.metastore_catalog_name : undefined,
    );
    return { ...page, data: page.data.map((row) => readCatalog(row, this.referenceData)) };
  }

  /** The catalog, for one that is about to refer to it: it can be neither changed nor deleted before `tx` ends. */
  async getRow(scope: TenantScope, selector: RecordSelector, tx: Tx): Promise<MetastoreCatalogRow> {
    return this.repository.get(scope, selector, tx, 'share');
  }

  /** Where a catalog is, for one who calls its metastore; a 404 for one that is deleted. */
  async place(tx: Tx, scope: TenantScope, id: number): Promise<CatalogPlace> {
    const row = await this.repository.get(scope, { id }, tx);
    const version = row.last_update_date.toISOString();
    const type = catalogTypeOf(row, this.referenceData).name as CatalogTypeName;
    const common = { name: row.name, type, version };
    const elsewhere = { s3: new Map<string, string>(), unityCatalogs: null, storagePath: null };
    switch (type) {
      case 'HIVE': {
        const key = `${id} ${version}`;
        const place =
          this.hivePlaces.get(key) ?? hivePlaceOf(readHiveFiles(await this.hiveFiles(tx, scope.tenantId, id)));
        this.hivePlaces.set(key, place);
        return { ...common, ...place };
      }
      case 'DATABRICKS UNITY': {
        const { endpoint, catalogs, storagePath } = unityPlaceOf(row);
        return { ...common, ...elsewhere, target: { kind: 'unity', endpoint }, unityCatalogs: catalogs, storagePath };
      }
      case 'AWS GLUE':
        return { ...common, ...elsewhere, target: { kind: 'glue', endpoint: null } };
    }
  }

  /**
   * What nodes need to reach the catalog of their cluster, or where each run needs a secret, what it opens. It may contain
   * credentials: the caller neither logs it nor returns it to users. A catalog that cannot be used comes with its fault, so
   * that only the runs that would begin with it are ended.
   */
  async forRuns(tx: Tx, tenantId: string, id: number): Promise<CatalogForRuns> {
    const row = await this.repository.sealed(tx, tenantId, id);
    if (!row) return { kind: 'unusable', fault: `There is no metastore catalog with id ${id}.` };
    const type = catalogTypeOf(row, this.referenceData).name as CatalogTypeName;
    try {
      // Its tables would be those of an empty metastore of the run's own in a run without it.
      if (row.to_date !== Infinity) throw conflict('METASTORE_CATALOG.DELETED', 'It was deleted.');
      switch (type) {
        case 'HIVE': {
          const { site } = readHiveFiles(await this.opened(tx, tenantId, row));
          return { kind: 'hive', properties: Object.fromEntries(site.properties) };
        }
        case 'DATABRICKS UNITY': {
          const { endpoint, catalogs } = unityPlaceOf(row);
          return { kind: 'locked', name: row.name, unity: { endpoint, catalogs } };
        }
        case 'AWS GLUE':
          return { kind: 'locked', name: row.name, unity: null };
      }
    } catch (error) {
      return unusable(row.name, asRefusal(error).message);
    }
  }

  /**
   * Decrypts the files of a Hive catalog; the caller neither logs nor returns them. If they cannot be decrypted, throws
   * a DomainError with the reason for users.
   */
  async hiveFiles(tx: Tx, tenantId: string, id: number): Promise<HiveFiles> {
    const row = await this.repository.sealed(tx, tenantId, id);
    if (!row) throw notFound('METASTORE_CATALOG.NOT_FOUND', `There is no Hive catalog with id ${id}.`);
    return this.opened(tx, tenantId, row);
  }

  private async opened(tx: Tx, tenantId: string, row: MetastoreCatalog): Promise<HiveFiles> {
    const { metastore_catalog_id: id, sealed } = row;
    if (!sealed) throw notFound('METASTORE_CATALOG.NOT_FOUND', `There is no Hive catalog with id ${id}.`);
    try {
      return (await this.secrets.open(tx, tenantId, tableOf(MetastoreCatalog), id, sealed)) as HiveFiles;
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      const message = `The files of the metastore catalog "${row.name}" (id ${id}) cannot be decrypted. Create it again.`;
      throw new DomainError('damaged', 'METASTORE_CATALOG.UNREADABLE', message, {}, { cause: error });
    }
  }
}

/** Where a Unity catalog is, and which of its catalogs were chosen, the default one first. */
function unityPlaceOf({ details }: Pick<MetastoreCatalog, 'details'>) {
  const { endpoint, default_catalog, additional_catalogs, storage_path } = details as UnityCatalogDetails;
  return { endpoint, catalogs: [default_catalog, ...additional_catalogs], storagePath: storage_path };
}
