import { Injectable } from '@nestjs/common';
import { idText } from '../../../../platform/kernel/dto/response-fields';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { MetastoreCatalogsService } from '../../../infrastructure/metastores';
import { ReferenceData } from '../../../foundation/reference-data';
import { AttachedSecretsService } from './attached-secrets.service';
import {
  type AttachedSecret,
  type CatalogSecretRow,
  TenantCatalogSecretsRepository,
} from './catalog-secrets.repository';
import type {
  CatalogSecretTenantRead,
  CatalogSecretTenantWrite,
  SecretRefTenant,
  TenantCatalogSecretListQuery,
} from './dto/catalog-secret.dto';
import type { TenantCatalogSecret } from './entities/catalog-secret.entity';

@Injectable()
export class TenantCatalogSecretsService extends AttachedSecretsService<
  TenantCatalogSecret,
  { read: CatalogSecretTenantRead; write: CatalogSecretTenantWrite; listQuery: TenantCatalogSecretListQuery }
> {
  constructor(
    transactions: Transactions,
    repository: TenantCatalogSecretsRepository,
    catalogs: MetastoreCatalogsService,
    referenceData: ReferenceData,
  ) {
    super(transactions, repository, catalogs, referenceData);
  }

  protected async ownerOf() {
    return {};
  }

  protected read(row: CatalogSecretRow<TenantCatalogSecret>): CatalogSecretTenantRead {
    const { metastore_catalog_secret_tenant_id } = row;
    return {
      metastore_catalog_secret_tenant_id,
      ...this.readCommon(row),
      metastore_secrets_tenant: this.ref(row.metastore_secret),
      object_storage_secrets_tenant: this.ref(row.storage_secret),
    };
  }

  protected write(row: CatalogSecretRow<TenantCatalogSecret>): CatalogSecretTenantWrite {
    return {
      metastore_catalog_secret_tenant_id: idText(row.metastore_catalog_secret_tenant_id),
      ...this.writeCommon(row),
      metastore_secrets_tenant_id: idText(row.metastore_secret_id),
      object_storage_secrets_tenant_id: idText(row.storage_secret_id),
    };
  }

  private ref(secret: AttachedSecret | null): SecretRefTenant | null {
    return secret && { secrets_tenant_id: secret.id, ...this.secretRef(secret) };
  }
}
