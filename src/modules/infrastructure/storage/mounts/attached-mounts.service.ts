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
import { assertTogether, type PlacedMount } from './mount-compatibility';
import { encryptionName, mountProvider } from './mount-lookups';
import { parseMountSource } from './mount-source';
import { type AttachedMount, MountUse } from './mount-use';
import { MountsRepository } from './mounts.repository';
import type { Mount } from './entities/mount.entity';

/** Mounts on clusters: which can be together, and what a node needs to open them. */
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
   * Locks the mounts until `tx` ends, for a cluster that is about to use them: 404 for one that the tenant does not
   * have, 400 for two that cannot be on one cluster.
   */
  async hold(tx: Tx, scope: TenantScope, ids: readonly number[]): Promise<void> {
    const mounts = await this.repository.findAll(scope, ids, tx, 'share');
    const missing = ids.find((id) => !mounts.some((mount) => mount.mount_id === id));
    if (missing !== undefined) throw await this.missing(tx, scope, missing);
    assertTogether(await this.place(tx, scope.tenantId, mounts));
  }

  /**
   * Throws a 400 if the mount, as changed, would no longer fit the other mounts of a cluster that it is attached to.
   */
  async assertStaysTogether(tx: Tx, scope: TenantScope, changed: Mount): Promise<void> {
    const clusters = await this.use.besides(tx, scope, changed.mount_id);
    const ids = [...new Set(clusters.flat())].filter((id) => id !== changed.mount_id);
    const others = await this.repository.findAll(scope, ids, tx, 'share');
    const placed = await this.place(tx, scope.tenantId, [...others, changed]);
    for (const mountIds of clusters) assertTogether(placed.filter(({ id }) => mountIds.includes(id)));
  }

  /**
   * What a node needs to open these mounts of its cluster. It contains credentials: the caller neither logs it nor
   * returns it to users. A mount that cannot be used comes with its fault, so that only the runs that would begin with
   * it are ended.
   */
  async open(tx: Tx, tenantId: string, clusterId: number, mounts: readonly AttachedMount[]): Promise<RunMount[]> {
    const current = mounts.filter(({ deleted }) => !deleted);
    const credentials = await this.reveal(tx, tenantId, current);
    return mounts.map((mount) => {
      try {
        // Its paths would be those of the node's own disk in a run without it.
        if (mount.deleted) throw conflict('MOUNT.DELETED', 'It was deleted.');
        return this.opened(mount, valuesOf(credentials, mount.credentials_conf_id));
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        this.logger.error({ err: error, mount_id: mount.mount_id, cluster_id: clusterId }, 'A mount cannot be used');
        return unusable(mount, error.message);
      }
    });
  }

  private opened(mount: Mount, values: Values): RunMount {
    const { account, ...located } = this.located(mount);
    // The source keeps naming its account even if the credentials become those of another.
    return { ...located, credentials: { ...values, ...(account === null ? {} : { STORAGE_ACCOUNT_NAME: account }) } };
  }

  /** Where the mount leads, as far as its own record says: the account is null where the source names none. */
  private located(mount: Mount): PlacedMount['mount'] {
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

  /** The accounts of Azure that sources leave out are those of the credentials. */
  private async place(tx: Tx, tenantId: string, mounts: readonly Mount[]): Promise<PlacedMount[]> {
    const located = mounts.map((mount) => ({ row: mount, mount: this.located(mount) }));
    const nameless = located.filter(({ mount }) => mount.provider === 'azure' && mount.account === null);
    const revealed = await this.reveal(
      tx,
      tenantId,
      nameless.map(({ row }) => row),
    );
    const accounts = new Map(
      nameless.map(({ row: { mount_id, credentials_conf_id } }) => [
        mount_id,
        valuesOf(revealed, credentials_conf_id)['STORAGE_ACCOUNT_NAME'] ?? null,
      ]),
    );
    return located.map(({ row: { mount_id: id, name, credentials_conf_id: credentialsId }, mount }) => {
      return { id, name, credentialsId, mount: { ...mount, account: mount.account ?? accounts.get(id) ?? null } };
    });
  }

  /** Values of the mounts' credentials by their ids, or why they are not available. */
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

/** The decrypted values; throws the reason if there are none. */
function valuesOf(revealed: Revealed, id: number): Values {
  const found = revealed.get(id) ?? {};
  if (found instanceof DomainError) throw found;
  return found;
}

/** Without credentials, so that an agent too old to know faults does not start the run either. */
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
