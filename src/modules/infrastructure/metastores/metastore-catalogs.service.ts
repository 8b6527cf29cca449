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
import { readCatalog } from './catalog-responses';
import {
  type CatalogForRuns,
  type CatalogLocation,
  type HiveLocation,
  hiveLocation,
  unusable,
} from './catalog-location';
import type {
  MetastoreCatalogListQuery,
  MetastoreCatalogRead,
  MetastoreCatalogSearchQuery,
} from './dto/metastore-catalog.dto';
import { MetastoreCatalog, type UnityCatalogDetails } from './entities/metastore-catalog.entity';
import { type HiveFiles, readHiveFiles } from './hive-files';
import { catalogTypeOf } from './metastore-catalogs.joins';
import { type MetastoreCatalogRow, MetastoreCatalogsRepository } from './metastore-catalogs.repository';

const MAX_CACHED_LOCATIONS = 1_000;

/** Lists metastore catalogs of all types and resolves them for clients and runs. */
@Injectable()
export class MetastoreCatalogsService {
  /** Cached by id and version, because parsing the files would dominate each request. */
  private readonly hiveLocations = new LRUCache<string, HiveLocation>({ max: MAX_CACHED_LOCATIONS });

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

  /** Locks the catalog, so that it cannot be changed or deleted before `tx` ends. */
  async getRow(scope: TenantScope, selector: RecordSelector, tx: Tx): Promise<MetastoreCatalogRow> {
    return this.repository.get(scope, selector, tx, 'share');
  }

  /** Resolves the servers of a catalog for a metastore client. Throws 404 if the catalog is deleted. */
  async locate(tx: Tx, scope: TenantScope, id: number): Promise<CatalogLocation> {
    const row = await this.repository.get(scope, { id }, tx);
    const version = row.last_update_date.toISOString();
    const type = catalogTypeOf(row, this.referenceData).name as CatalogTypeName;
    const common = { name: row.name, type, version };
    const withoutHive = { s3: new Map<string, string>(), unityCatalogs: null, storagePath: null };
    switch (type) {
      case 'HIVE': {
        const key = `${id} ${version}`;
        const location =
          this.hiveLocations.get(key) ?? hiveLocation(readHiveFiles(await this.hiveFiles(tx, scope.tenantId, id)));
        this.hiveLocations.set(key, location);
        return { ...common, ...location };
      }
      case 'DATABRICKS UNITY': {
        const { endpoint, catalogs, storagePath } = unityLocation(row);
        return { ...common, ...withoutHive, target: { kind: 'unity', endpoint }, unityCatalogs: catalogs, storagePath };
      }
      case 'AWS GLUE':
        return { ...common, ...withoutHive, target: { kind: 'glue', endpoint: null } };
    }
  }

  /**
   * Returns what nodes need to use their cluster's catalog; for a catalog that needs a secret, what the secret applies
   * to. It may contain credentials: the caller must not log it or return it to users. A catalog that cannot be used is
   * returned with its fault, so that only runs that would start with it fail.
   */
  async forRuns(tx: Tx, tenantId: string, id: number): Promise<CatalogForRuns> {
    const row = await this.repository.findWithSealed(tx, tenantId, id);
    if (!row) return { kind: 'unusable', fault: `There is no metastore catalog with id ${id}.` };
    const type = catalogTypeOf(row, this.referenceData).name as CatalogTypeName;
    try {
      // A run without the catalog would silently use an empty metastore of its own.
      if (row.to_date !== Infinity)
        throw conflict('METASTORE_CATALOG.DELETED', 'It was deleted. Assign another catalog to the cluster.');
      switch (type) {
        case 'HIVE': {
          const { site } = readHiveFiles(await this.decryptFiles(tx, tenantId, row));
          return { kind: 'hive', properties: Object.fromEntries(site.properties) };
        }
        case 'DATABRICKS UNITY': {
          const { endpoint, catalogs } = unityLocation(row);
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
   * Decrypts the files of a Hive catalog. The caller must not log or return them. Throws a DomainError with a reason
   * for users if they cannot be decrypted.
   */
  async hiveFiles(tx: Tx, tenantId: string, id: number): Promise<HiveFiles> {
    const row = await this.repository.findWithSealed(tx, tenantId, id);
    if (!row) throw notFound('METASTORE_CATALOG.NOT_FOUND', `There is no Hive catalog with id ${id}.`);
    return this.decryptFiles(tx, tenantId, row);
  }

  private async decryptFiles(tx: Tx, tenantId: string, row: MetastoreCatalog): Promise<HiveFiles> {
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

/** Returns the location and the selected catalogs of a Unity catalog, default catalog first. */
function unityLocation({ details }: Pick<MetastoreCatalog, 'details'>) {
  const { endpoint, default_catalog, additional_catalogs, storage_path } = details as UnityCatalogDetails;
  return { endpoint, catalogs: [default_catalog, ...additional_catalogs], storagePath: storage_path };
}
