import { Injectable } from '@nestjs/common';
import { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import type { TenantScope } from '../../../platform/kernel/auth/principal';
import { tableOf } from '../../../platform/kernel/persistence/entity-table';
import type { Tx, Values } from '../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../platform/kernel/persistence/transactions';
import { References } from '../../../platform/http/resources/references';
import { ReferenceData } from '../../foundation/reference-data';
import { TenantSecretsService } from '../../foundation/secrets';
import { serversChanged } from './catalog-location';
import { CatalogsOfType } from './catalogs-of-type';
import type {
  CreateHiveCatalog,
  HiveCatalogWrite,
  MetastoreCatalogWrite,
  UpdateHiveCatalog,
} from './dto/metastore-catalog.dto';
import { type CatalogDetails, HIVE_FILES, MetastoreCatalog } from './entities/metastore-catalog.entity';
import { assertServersAllowed, type HiveFiles, readHiveFiles } from './hive-files';
import { MetastoreCatalogsRepository, type MetastoreCatalogRow } from './metastore-catalogs.repository';
import { MetastoreCatalogsService } from './metastore-catalogs.service';

/** Manages Hive catalogs. Their configuration files are write-only, because they may contain passwords. */
@Injectable()
export class HiveCatalogsService extends CatalogsOfType<CreateHiveCatalog, UpdateHiveCatalog, HiveCatalogWrite> {
  protected readonly type = 'HIVE';

  constructor(
    transactions: Transactions,
    repository: MetastoreCatalogsRepository,
    referenceData: ReferenceData,
    references: References,
    private readonly catalogs: MetastoreCatalogsService,
    private readonly secrets: TenantSecretsService,
    private readonly outbound: OutboundPolicy,
  ) {
    super(transactions, repository, referenceData, references);
  }

  protected newDetails(body: CreateHiveCatalog): CatalogDetails {
    return this.detailsOf(filesOf(body, {}));
  }

  protected override async afterInsert(
    scope: TenantScope,
    body: CreateHiveCatalog,
    row: MetastoreCatalogRow,
    tx: Tx,
  ): Promise<MetastoreCatalogRow> {
    // The seal is bound to the row's id, so it needs the inserted row.
    const sealed = await this.seal(tx, scope, row, filesOf(body, {}));
    return this.repository.update(tx, scope, row.metastore_catalog_id, { sealed });
  }

  protected async changedColumns(
    scope: TenantScope,
    row: MetastoreCatalogRow,
    body: UpdateHiveCatalog,
    tx: Tx,
  ): Promise<Values<MetastoreCatalog>> {
    if (HIVE_FILES.every((file) => body[file] === undefined)) return {};
    const before = await this.catalogs.hiveFiles(tx, scope.tenantId, row.metastore_catalog_id);
    const files = filesOf(body, before);
    const details = this.detailsOf(files);
    const isMoved = serversChanged(readHiveFiles(before), readHiveFiles(files));
    return { details, sealed: await this.seal(tx, scope, row, files), ...(isMoved && this.nextPlaceVersion(row)) };
  }

  protected createResponse(catalog: Omit<MetastoreCatalogWrite, 'metastore_details'>): HiveCatalogWrite {
    return {
      ...catalog,
      metastore_hive_catalog: {
        metastore_hive_catalog_id: catalog.metastore_catalog_id,
        metastore_secrets_tenant_id: null,
        object_storage_secrets_tenant_id: null,
      },
    };
  }

  private detailsOf(files: HiveFiles): CatalogDetails {
    assertServersAllowed(readHiveFiles(files), this.outbound);
    return { files: HIVE_FILES.filter((file) => files[file] !== undefined) };
  }

  private seal(tx: Tx, scope: TenantScope, row: MetastoreCatalogRow, files: HiveFiles): Promise<Buffer> {
    return this.secrets.seal(tx, scope.tenantId, tableOf(MetastoreCatalog), row.metastore_catalog_id, files);
  }
}

/** Merges the files of a request with the stored ones: an absent file stays, null removes it. */
function filesOf(body: UpdateHiveCatalog, before: Partial<HiveFiles>): HiveFiles {
  const entries = HIVE_FILES.map((file) => [file, body[file] === undefined ? before[file] : body[file]] as const);
  return Object.fromEntries(entries.filter(([, text]) => typeof text === 'string')) as unknown as HiveFiles;
}
