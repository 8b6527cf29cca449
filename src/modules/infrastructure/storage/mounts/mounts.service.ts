import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { idText, readAudit, writeAudit } from '../../../../platform/kernel/dto/response-fields';
import type { Page } from '../../../../platform/kernel/dto/page';
import type { Tx, Values } from '../../../../platform/kernel/persistence/sql';
import { Transactions } from '../../../../platform/kernel/persistence/transactions';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { References } from '../../../../platform/http/resources/references';
import type { ResourceFilter } from '../../../../platform/http/resources/resource-repository';
import { ResourceService } from '../../../../platform/http/resources/resource-service';
import { credentialConfRef, CredentialsConfsService } from '../../environments';
import {
  assertStoreCredentials,
  type StoreCloudProviderName,
} from '../object-storage-managers/object-storage-managers.joins';
import { ReferenceData, STORAGE_TYPE_ID, type StorageTypeName } from '../../../foundation/reference-data';
import { AttachedMountsService } from './attached-mounts.service';
import type { CreateMount, MountListQuery, MountWrite, UpdateMount } from './dto/mount.dto';
import { Mount } from './entities/mount.entity';
import { assertExtraConfigs } from './extra-configs';
import { assertMountPoint } from './mount-point';
import { encryptionName, mountProvider } from './mount-lookups';
import { parseMountSource } from './mount-source';
import type { MountRead } from './mounts';
import { MountUse } from './mount-use';
import { type MountRow, MountsRepository } from './mounts.repository';

const USER = { code: 'MOUNT', label: 'A mount' };

/** Manages mounts: directories of object stores that jobs access by a path. */
@Injectable()
export class MountsService extends ResourceService<{
  entity: Mount;
  row: MountRow;
  create: CreateMount;
  update: UpdateMount;
  read: MountRead;
  write: MountWrite;
  listQuery: MountListQuery;
}> {
  constructor(
    transactions: Transactions,
    protected override readonly repository: MountsRepository,
    private readonly referenceData: ReferenceData,
    private readonly references: References,
    private readonly credentialsConfs: CredentialsConfsService,
    private readonly attached: AttachedMountsService,
    private readonly use: MountUse,
  ) {
    super(transactions, repository);
  }

  override async list(scope: TenantScope, query: MountListQuery): Promise<Page<MountRead>> {
    if (query.exclude_cluster_id !== undefined) await this.use.assertCluster(scope, query.exclude_cluster_id);
    return super.list(scope, query, query.mount_name);
  }

  /** Returns the mounts by id. Includes deleted ones, because a cluster that refers to one still shows it. */
  async readAll(scope: TenantScope, ids: readonly number[]): Promise<Map<number, MountRead>> {
    const mounts = await this.repository.findAllEver(scope, ids);
    return new Map(mounts.map((row) => [row.mount_id, this.read(row)]));
  }

  protected filter({ storage_types, exclude_cluster_id }: MountListQuery): ResourceFilter<Mount> {
    return (conditions) => {
      const storageTypeIds = storage_types?.map((name) => STORAGE_TYPE_ID[name as StorageTypeName]);
      conditions.only('storage_type_id', storageTypeIds);
      if (exclude_cluster_id !== undefined) this.use.notAttachedTo(exclude_cluster_id)(conditions);
    };
  }

  protected async columnsOfNew(scope: TenantScope, body: CreateMount, tx: Tx): Promise<Values<Mount>> {
    const { credentials_config_id: credentialsId, extra_configs = null, ...rest } = body;
    const provider = mountProvider(body.storage_type_id, this.referenceData.current);
    const encryption = this.usableEncryption(body.storage_type_id, body.encryption_type_id ?? null);
    assertMountPoint(body.mount_point);
    assertExtraConfigs(extra_configs, provider, encryption);
    await this.assertAccess(scope, provider, credentialsId, body.source, tx);
    return {
      ...rest,
      is_read_only: body.is_read_only,
      extra_configs,
      credentials_conf_id: credentialsId,
    };
  }

  protected async columnsOfChanged(
    scope: TenantScope,
    row: MountRow,
    body: UpdateMount,
    tx: Tx,
  ): Promise<Values<Mount>> {
    await this.references.assertFree(tx, scope, Mount, row.mount_id);
    const provider = mountProvider(row.storage_type_id, this.referenceData);
    const changed: MountRow = {
      ...row,
      name: body.name ?? row.name,
      source: body.source ?? row.source,
      mount_point: body.mount_point ?? row.mount_point,
      extra_configs: body.extra_configs === undefined ? row.extra_configs : body.extra_configs,
      credentials_conf_id: body.credentials_config_id ?? row.credentials_conf_id,
    };
    assertMountPoint(changed.mount_point);
    assertExtraConfigs(changed.extra_configs, provider, encryptionName(row.encryption_type_id, this.referenceData));
    if (body.credentials_config_id !== undefined || body.source !== undefined) {
      await this.assertAccess(scope, provider, changed.credentials_conf_id, changed.source, tx);
    }
    await this.attached.assertStaysCompatible(tx, scope, changed);
    return {
      name: changed.name,
      source: changed.source,
      mount_point: changed.mount_point,
      extra_configs: changed.extra_configs,
      is_read_only: body.is_read_only,
      credentials_conf_id: changed.credentials_conf_id,
    };
  }

  protected override lockUsers(tx: Tx, scope: TenantScope, id: number): Promise<void> {
    return this.references.lockHolders(tx, scope, Mount, id);
  }

  protected async assertDeletable(scope: TenantScope, row: MountRow, tx: Tx): Promise<void> {
    await this.references.assertFree(tx, scope, Mount, row.mount_id);
  }

  protected read(row: MountRow): MountRead {
    const { storage_type_id: id } = row;
    const { name } = requireRecord(this.referenceData.storageType(id), 'storage type', id);
    return {
      mount_id: row.mount_id,
      name: row.name,
      storage_type_id: id,
      storage_type: { storage_type_id: id, name },
      encryption_type_id: row.encryption_type_id,
      source: row.source,
      mount_point: row.mount_point,
      extra_configs: row.extra_configs,
      is_read_only: row.is_read_only,
      credentials_config_id: row.credentials_conf_id,
      credentials_config: credentialConfRef(row.credentials_conf, this.referenceData),
      tenant_id: row.tenant_id,
      ...readAudit(row),
    };
  }

  protected write(row: MountRow): MountWrite {
    return {
      mount_id: idText(row.mount_id),
      name: row.name,
      storage_type_id: idText(row.storage_type_id),
      encryption_type_id: idText(row.encryption_type_id),
      source: row.source,
      mount_point: row.mount_point,
      extra_configs: row.extra_configs,
      is_read_only: row.is_read_only,
      credentials_config_id: idText(row.credentials_conf_id),
      tenant_id: row.tenant_id,
      ...writeAudit(row),
    };
  }

  /** Returns the name of the encryption type. Throws 400 unless it is supported and belongs to the same provider. */
  private usableEncryption(storageTypeId: number, id: number | null): string | null {
    if (id === null) return null;
    const { current } = this.referenceData;
    const encryption = requireRecord(current.encryptionType(id), 'encryption type', id);
    const storage = requireRecord(current.storageType(storageTypeId), 'storage type', storageTypeId);
    if (encryption.cloudProviderId !== storage.cloudProviderId) {
      throw invalid(
        'MOUNT.ENCRYPTION_MISMATCH',
        `The encryption type ${encryption.name} is not available for the storage type ${storage.name}.`,
      );
    }
    if (encryption.name === 'SSE-C') {
      throw invalid(
        'MOUNT.ENCRYPTION_UNSUPPORTED',
        'SSE-C is not supported: every request needs the key itself, and a mount has no place to keep it secret. Use another encryption type.',
      );
    }
    return encryption.name;
  }

  /** Validates source and credentials without calling the store. */
  private async assertAccess(
    scope: TenantScope,
    provider: StoreCloudProviderName,
    credentialsId: number,
    source: string,
    tx: Tx,
  ): Promise<void> {
    const { account } = parseMountSource(source, provider);
    const credentials = await this.credentialsConfs.getRow(scope, { id: credentialsId }, tx);
    assertStoreCredentials(provider, credentials, USER, this.referenceData);
    if (account === null) return;
    const { values } = await this.credentialsConfs.reveal(tx, scope.tenantId, credentialsId);
    if (values['STORAGE_ACCOUNT_NAME'] === account) return;
    throw invalid(
      'MOUNT.ACCOUNT_MISMATCH',
      `The source names the storage account ${account}, but the credentials "${credentials.name}" belong to another account.`,
    );
  }
}
