import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { References } from '../../../../platform/http/resources/references';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ResourceService } from '../../../../platform/http/resources/resource-service';
import { CredentialsConfsService } from '../../environments';
import { requestedProviderId, type CloudProviderRef, ReferenceData } from '../../../foundation/reference-data';
import type {
  CreateObjectStorageManager,
  ObjectStorageManagerListQuery,
  ObjectStorageManagerRead,
  ObjectStorageManagerWrite,
  UpdateObjectStorageManager,
} from './dto/object-storage-manager.dto';
import { ObjectStorageManager } from './entities/object-storage-manager.entity';
import { objectStorageManagerRef } from './object-storage-managers.joins';
import { type ObjectStorageManagerRow, ObjectStorageManagersRepository } from './object-storage-managers.repository';
import { ObjectStores } from './object-stores';
import { storeCloudProvider, assertStoreCredentials, STORE_CLOUD_PROVIDERS } from './store-providers';

const USER = { code: 'OBJECT_STORAGE_MANAGER', label: 'An object storage manager' };

/** Manages object storage managers: buckets with their credentials. */
@Injectable()
export class ObjectStorageManagersService extends ResourceService<{
  entity: ObjectStorageManager;
  row: ObjectStorageManagerRow;
  create: CreateObjectStorageManager;
  update: UpdateObjectStorageManager;
  read: ObjectStorageManagerRead;
  write: ObjectStorageManagerWrite;
  listQuery: ObjectStorageManagerListQuery;
}> {
  constructor(
    transactions: Transactions,
    repository: ObjectStorageManagersRepository,
    private readonly referenceData: ReferenceData,
    private readonly references: References,
    private readonly credentialsConfs: CredentialsConfsService,
    private readonly stores: ObjectStores,
  ) {
    super(transactions, repository);
  }

  protected filter(query: ObjectStorageManagerListQuery): ResourceFilter<ObjectStorageManager> {
    return (conditions) => conditions.only('cloud_provider_id', requestedProviderId(query.cloud_provider));
  }

  protected async columnsOfNew(
    scope: TenantScope,
    body: CreateObjectStorageManager,
    tx: Tx,
  ): Promise<Values<ObjectStorageManager>> {
    const { cloud_provider_id: providerId, credentials_conf_id: credentialsId } = body;
    const provider = requireRecord(this.referenceData.current.cloudProvider(providerId), 'cloud provider', providerId);
    await this.assertAccess(scope, provider, credentialsId, body.object_storage_bucket_name, tx);
    return { ...body };
  }

  protected async columnsOfChanged(
    scope: TenantScope,
    row: ObjectStorageManagerRow,
    body: UpdateObjectStorageManager,
    tx: Tx,
  ): Promise<Values<ObjectStorageManager>> {
    if (body.credentials_conf_id !== undefined) {
      const provider = this.cloudProvider(row.cloud_provider_id);
      await this.assertAccess(scope, provider, body.credentials_conf_id, row.object_storage_bucket_name, tx);
    }
    return { ...body };
  }

  protected override lockUsers(tx: Tx, scope: TenantScope, id: number): Promise<void> {
    return this.references.lockHolders(tx, scope, ObjectStorageManager, id);
  }

  protected async assertDeletable(scope: TenantScope, row: ObjectStorageManagerRow, tx: Tx): Promise<void> {
    await this.references.assertFree(tx, scope, ObjectStorageManager, row.object_storage_manager_id);
  }

  protected read(row: ObjectStorageManagerRow): ObjectStorageManagerRead {
    return { ...objectStorageManagerRef(row, this.referenceData), tenant_id: row.tenant_id, ...readAudit(row) };
  }

  protected write(row: ObjectStorageManagerRow): ObjectStorageManagerWrite {
    return {
      object_storage_manager_id: idText(row.object_storage_manager_id),
      name: row.name,
      description: row.description,
      cloud_provider_id: idText(row.cloud_provider_id),
      credentials_conf_id: idText(row.credentials_conf_id),
      object_storage_bucket_name: row.object_storage_bucket_name,
      tenant_id: row.tenant_id,
      ...writeAudit(row),
    };
  }

  /** Validates credentials and bucket without calling the store. */
  private async assertAccess(
    scope: TenantScope,
    provider: CloudProviderRef,
    credentialsId: number,
    bucket: string,
    tx: Tx,
  ): Promise<void> {
    const name = storeCloudProvider(provider.cloud_provider_id);
    if (!name) {
      throw invalid(
        'OBJECT_STORAGE_MANAGER.PROVIDER_UNSUPPORTED',
        `Object storage managers are available for ${STORE_CLOUD_PROVIDERS.join(', ')}, not for ${provider.name}.`,
      );
    }
    const credentials = await this.credentialsConfs.getRow(scope, { id: credentialsId }, tx);
    assertStoreCredentials(name, credentials, USER, this.referenceData);
    const { values } = await this.credentialsConfs.reveal(tx, scope.tenantId, credentialsId);
    this.stores.create(name, bucket, values);
  }

  private cloudProvider(id: number): CloudProviderRef {
    return requireRecord(this.referenceData.cloudProvider(id), 'cloud provider', id);
  }
}
