import { Inject, Injectable } from '@nestjs/common';
import type { RunMount } from '../../../../../libs/contracts/agent-protocol';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { conflict, DomainError, notFound } from '../../../../platform/kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { CredentialsConfsService } from '../../environments';
import { STORE_ACCESS } from '../object-storage-managers/object-storage-managers.joins';
import { ReferenceData } from '../../../foundation/reference-data';
import { extraConfigTexts } from './extra-configs';
import { assertCompatible, type LocatedMount } from './mount-compatibility';
import { encryptionName, mountProvider } from './mount-lookups';
import { parseMountSource } from './mount-source';
import { type AttachedMount, MountUse } from './mount-use';
import { MountsRepository } from './mounts.repository';
import type { Mount } from './entities/mount.entity';

/** Checks which mounts a cluster can combine, and opens a cluster's mounts for its nodes. */
@Injectable()
export class AttachedMountsService {
  constructor(
    private readonly repository: MountsRepository,
    private readonly use: MountUse,
    private readonly credentialsConfs: CredentialsConfsService,
    private readonly referenceData: ReferenceData,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Locks the mounts of a cluster until `tx` ends. Throws 404 for a mount that the tenant does not have, and 400 for
   * two mounts that cannot be on one cluster.
   */
  async lock(tx: Tx, scope: TenantScope, ids: readonly number[]): Promise<void> {
    const mounts = await this.repository.findAll(scope, ids, tx, 'share');
    const missing = ids.find((id) => !mounts.some((mount) => mount.mount_id === id));
    if (missing !== undefined) throw await this.missing(tx, scope, missing);
    assertCompatible(await this.locateAll(tx, scope.tenantId, mounts));
  }

  /** Throws 400 if a changed mount would conflict with another mount of a cluster that it is attached to. */
  async assertStaysCompatible(tx: Tx, scope: TenantScope, changed: Mount): Promise<void> {
    const clusters = await this.use.mountIdsByCluster(tx, scope, changed.mount_id);
    const ids = [...new Set(clusters.flat())].filter((id) => id !== changed.mount_id);
    const others = await this.repository.findAll(scope, ids, tx, 'share');
    const located = await this.locateAll(tx, scope.tenantId, [...others, changed]);
    for (const mountIds of clusters) assertCompatible(located.filter(({ id }) => mountIds.includes(id)));
  }

  /**
   * Returns the mounts of a cluster with everything its nodes need. It contains credentials: the caller must not log it
   * or return it to users. A mount that cannot be used is returned with its fault, so that only runs that would start
   * with it fail.
   */
  async open(tx: Tx, tenantId: string, clusterId: number, mounts: readonly AttachedMount[]): Promise<RunMount[]> {
    const current = mounts.filter(({ deleted }) => !deleted);
    const credentials = await this.reveal(tx, tenantId, current);
    return mounts.map((mount) => {
      try {
        // A run without the mount would silently use the node's own disk under its paths.
        if (mount.deleted) throw conflict('MOUNT.DELETED', 'It was deleted. Detach it from the cluster.');
        return this.toRunMount(mount, valuesOf(credentials, mount.credentials_conf_id));
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        this.logger.error(
          { err: error, mount_id: mount.mount_id, cluster_id: clusterId },
          'A mount of a cluster cannot be used; runs that start with it fail',
        );
        return unusable(mount, error.message);
      }
    });
  }

  private toRunMount(mount: Mount, values: Values): RunMount {
    const { account, ...located } = this.locate(mount);
    // The account in the source takes precedence, even if the credentials later belong to another account.
    return { ...located, credentials: { ...values, ...(account === null ? {} : { STORAGE_ACCOUNT_NAME: account }) } };
  }

  /** Resolves the mount from its own record. The account is null if the source does not name one. */
  private locate(mount: Mount): LocatedMount['mount'] {
    const provider = mountProvider(mount.storage_type_id, this.referenceData);
    const { bucket, path, account } = parseMountSource(mount.source, provider);
    return {
      mount_point: mount.mount_point,
      provider: STORE_ACCESS[provider].provider,
      bucket,
      path,
      account,
      read_only: mount.is_read_only,
      encryption: encryptionName(mount.encryption_type_id, this.referenceData),
      extra_configs: extraConfigTexts(mount.extra_configs),
    };
  }

  private async missing(tx: Tx, scope: TenantScope, id: number): Promise<DomainError> {
    const [deleted] = await this.repository.findAllEver(scope, [id], tx);
    const message = deleted
      ? `The mount "${deleted.name}" (id ${id}) no longer exists.`
      : `There is no mount with id ${id}.`;
    return notFound('MOUNT.NOT_FOUND', message);
  }

  /** Takes the Azure account from the credentials if the source does not name one. */
  private async locateAll(tx: Tx, tenantId: string, mounts: readonly Mount[]): Promise<LocatedMount[]> {
    const located = mounts.map((mount) => ({ row: mount, mount: this.locate(mount) }));
    const withoutAccount = located.filter(({ mount }) => mount.provider === 'azure' && mount.account === null);
    const revealed = await this.reveal(
      tx,
      tenantId,
      withoutAccount.map(({ row }) => row),
    );
    const accounts = new Map(
      withoutAccount.map(({ row: { mount_id, credentials_conf_id } }) => [
        mount_id,
        valuesOf(revealed, credentials_conf_id)['STORAGE_ACCOUNT_NAME'] ?? null,
      ]),
    );
    return located.map(({ row: { mount_id: id, name, credentials_conf_id: credentialsId }, mount }) => {
      return { id, name, credentialsId, mount: { ...mount, account: mount.account ?? accounts.get(id) ?? null } };
    });
  }

  /** Decrypts the mounts' credentials, by id. An entry is an error if its credentials are not available. */
  private async reveal(tx: Tx, tenantId: string, mounts: readonly Mount[]): Promise<Revealed> {
    const revealed = new Map<number, Values | DomainError>();
    for (const id of new Set(mounts.map(({ credentials_conf_id }) => credentials_conf_id))) {
      revealed.set(id, await this.revealOne(tx, tenantId, id));
    }
    return revealed;
  }

  private async revealOne(tx: Tx, tenantId: string, id: number): Promise<Values | DomainError> {
    try {
      return (await this.credentialsConfs.reveal(tx, tenantId, id)).values;
    } catch (error) {
      if (error instanceof DomainError) return error;
      throw error;
    }
  }
}

type Values = Readonly<Record<string, string>>;
type Revealed = ReadonlyMap<number, Values | DomainError>;

/** Throws the error if the values are not available. */
function valuesOf(revealed: Revealed, id: number): Values {
  const values = revealed.get(id) ?? {};
  if (values instanceof DomainError) throw values;
  return values;
}

/** Omits credentials, so that an agent too old to know `fault` cannot start the run either. */
function unusable({ name, mount_point, is_read_only }: Mount, reason: string): RunMount {
  return {
    mount_point,
    provider: 's3-compatible',
    bucket: '',
    path: '',
    read_only: is_read_only,
    encryption: null,
    extra_configs: {},
    credentials: {},
    fault: `The mount "${name}" (${mount_point}) cannot be used: ${reason}`,
  };
}
