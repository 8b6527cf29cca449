import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { TenantSecretsService } from '../../../foundation/secrets';
import { ClusterRowsRepository } from '../model/cluster-rows.repository';
import type { Cluster } from '../model/entities/cluster.entity';

const TABLE = 'clusters';

/** The sealed secret of a cluster, with the wrapped key of its tenant. */
type Sealed = Pick<Cluster, 'tenant_id' | 'cluster_id' | 'spark_secret'> & { wrapped_key: Buffer | null };

/** The secret with which the Spark processes of a cluster authenticate to each other, from its start to its stop. */
@Injectable()
export class ClusterSecretsService {
  constructor(
    private readonly clusters: ClusterRowsRepository,
    private readonly secrets: TenantSecretsService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Creates a secret unless the cluster has one, so that the secret that nodes already have stays valid. */
  async ensure(tx: Tx, tenantId: string, clusterId: number): Promise<void> {
    if ((await this.clusters.sealedSecret(tx, clusterId)) !== null) return;
    const value = { secret: randomBytes(32).toString('hex') };
    const sealed = await this.secrets.seal(tx, tenantId, TABLE, clusterId, value);
    await this.clusters.setSealedSecret(tx, clusterId, sealed);
  }

  /**
   * Decrypts the secret. Returns null for a cluster that was started before secrets existed, and undefined if the
   * tenant's secrets cannot be decrypted: its nodes must still receive the rest of their desired state.
   */
  reveal({
    tenant_id: tenantId,
    cluster_id: clusterId,
    spark_secret: sealed,
    wrapped_key,
  }: Sealed): string | null | undefined {
    if (sealed === null) return null;
    try {
      const { secret } = this.secrets.openWith(wrapped_key, tenantId, TABLE, clusterId, sealed) as { secret: string };
      return secret;
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'damaged') throw error;
      this.logger.error({ err: error, cluster_id: clusterId }, 'The Spark secret of a cluster cannot be decrypted');
      return undefined;
    }
  }

  /** Removes the secret once nothing of the cluster runs. The next start creates another one. */
  async forget(tx: Tx, clusterId: number): Promise<void> {
    await this.clusters.setSealedSecret(tx, clusterId, null);
  }
}
