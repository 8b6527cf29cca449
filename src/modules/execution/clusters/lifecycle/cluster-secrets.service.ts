import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../../../platform/kernel/errors/domain-error';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { TenantSecretsService } from '../../../foundation/secrets';
import { ClusterRowsRepository } from '../model/cluster-rows.repository';
import type { Cluster } from '../model/entities/cluster.entity';

const TABLE = 'clusters';

/** The sealed secret of a cluster, with the key of its tenant as it is wrapped. */
type Sealed = Pick<Cluster, 'tenant_id' | 'cluster_id' | 'spark_secret'> & { wrapped_key: Buffer | null };

/** The secret with which the Spark processes of a cluster authenticate to each other, from its start to its stop. */
@Injectable()
export class ClusterSecretsService {
  constructor(
    private readonly clusters: ClusterRowsRepository,
    private readonly secrets: TenantSecretsService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Creates one unless there is one: what nodes were told stays valid. */
  async ensure(tx: Tx, tenantId: string, clusterId: number): Promise<void> {
    if ((await this.clusters.sealedSecret(tx, clusterId)) !== null) return;
    const value = { secret: randomBytes(32).toString('hex') };
    const sealed = await this.secrets.seal(tx, tenantId, TABLE, clusterId, value);
    await this.clusters.setSealedSecret(tx, clusterId, sealed);
  }

  /**
   * Null for a cluster that has been running since before there were secrets; undefined while the tenant's secrets
   * cannot be decrypted, which must not keep its nodes from being told everything else.
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
      this.logger.error({ err: error, cluster_id: clusterId }, 'The secret of a cluster cannot be opened');
      return undefined;
    }
  }

  /** To be called once nothing of the cluster runs: the next start creates another one. */
  async forget(tx: Tx, clusterId: number): Promise<void> {
    await this.clusters.setSealedSecret(tx, clusterId, null);
  }
}
