import { Injectable } from '@nestjs/common';
import type { RunMount } from '../../../libs/contracts/agent-protocol';
import type { TenantScope } from '../../platform/auth/principal';
import { notFound } from '../../platform/errors/domain-error';
import type { Tx } from '../../platform/persistence/sql';
import { CredentialsConfsService } from '../credentials-confs/credentials-confs.service';
import { STORE_ACCESS } from '../object-storage-managers/object-storage-managers.contract';
import { ReferenceData } from '../reference-data/reference-data.contract';
import { extraConfigTexts } from './extra-configs';
import { assertTogether, type PlacedMount } from './mount-compatibility';
import { encryptionName, mountProvider } from './mount-lookups';
import { parseMountSource } from './mount-source';
import { type MountData, MountsRepository } from './mounts.repository';

/** Mounts on clusters: which can be together, and what a node needs to open them. */
@Injectable()
export class AttachedMountsService {
  constructor(
    private readonly repository: MountsRepository,
    private readonly credentialsConfs: CredentialsConfsService,
    private readonly referenceData: ReferenceData,
  ) {}

  /**
   * Holds the mounts as they are until `tx` ends, for a cluster that comes to use them: 404 for one that the tenant does
   * not have, 400 for two that cannot be on one cluster.
   */
  async hold(tx: Tx, scope: TenantScope, ids: readonly number[]): Promise<void> {
    const mounts = await this.repository.findAll(scope, ids, tx, 'share');
    const missing = ids.find((id) => !mounts.some((mount) => mount.mount_id === id));
    if (missing !== undefined) throw notFound('MOUNT.NOT_FOUND', `There is no mount with id ${missing}.`);
    assertTogether(await this.place(tx, scope.tenantId, mounts));
  }

  /** Throws a 400 when the mount, as it is to be, cannot stay with the others of a cluster that it is attached to. */
  async assertStaysTogether(tx: Tx, scope: TenantScope, changed: MountData): Promise<void> {
    const clusters = await this.repository.besides(tx, scope, changed.mount_id);
    const ids = [...new Set(clusters.flat())].filter((id) => id !== changed.mount_id);
    const others = await this.repository.findAll(scope, ids, tx, 'share');
    const placed = await this.place(tx, scope.tenantId, [...others, changed]);
    for (const mountIds of clusters) assertTogether(placed.filter(({ id }) => mountIds.includes(id)));
  }

  /** What a node needs to open the mounts of its cluster. It holds credentials: the caller neither logs nor answers it to users. */
  async ofCluster(tx: Tx, tenantId: string, clusterId: number): Promise<RunMount[]> {
    const mounts = await this.repository.ofCluster(tx, tenantId, clusterId);
    const credentials = await this.reveal(tx, tenantId, mounts);
    return mounts.map((mount) => {
      const provider = mountProvider(mount.storage_type_id, this.referenceData);
      const { bucket, path, account } = parseMountSource(mount.source, provider);
      const values = credentials.get(mount.credentials_conf_id);
      return {
        mount_point: mount.mount_point,
        provider: STORE_ACCESS[provider].provider,
        bucket,
        path,
        read_only: mount.is_read_only,
        encryption: encryptionName(mount.encryption_type_id, this.referenceData),
        extra_configs: extraConfigTexts(mount.extra_configs),
        // The source keeps naming its account when the credentials come to be those of another.
        credentials: { ...values, ...(account === null ? {} : { STORAGE_ACCOUNT_NAME: account }) },
      };
    });
  }

  /** The accounts of Azure that sources leave out are those of the credentials. */
  private async place(tx: Tx, tenantId: string, mounts: readonly MountData[]): Promise<PlacedMount[]> {
    const placed = mounts.map((mount) => {
      const provider = mountProvider(mount.storage_type_id, this.referenceData);
      const { bucket, account } = parseMountSource(mount.source, provider);
      return {
        id: mount.mount_id,
        name: mount.name,
        provider,
        bucket,
        account,
        credentialsId: mount.credentials_conf_id,
        encryptionTypeId: mount.encryption_type_id,
        extraConfigs: extraConfigTexts(mount.extra_configs),
      };
    });
    const withoutAccount = placed.filter(({ provider, account }) => provider === 'Azure' && account === null);
    const nameless = mounts.filter(({ mount_id }) => withoutAccount.some(({ id }) => id === mount_id));
    const credentials = await this.reveal(tx, tenantId, nameless);
    return placed.map((mount) => ({
      ...mount,
      account: mount.account ?? credentials.get(mount.credentialsId)?.['STORAGE_ACCOUNT_NAME'] ?? null,
    }));
  }

  /** Values of the mounts' credentials by their ids. */
  private async reveal(
    tx: Tx,
    tenantId: string,
    mounts: readonly MountData[],
  ): Promise<Map<number, Record<string, string>>> {
    const revealed = new Map<number, Record<string, string>>();
    for (const id of new Set(mounts.map(({ credentials_conf_id }) => credentials_conf_id))) {
      revealed.set(id, (await this.credentialsConfs.reveal(tx, tenantId, id)).values);
    }
    return revealed;
  }
}
