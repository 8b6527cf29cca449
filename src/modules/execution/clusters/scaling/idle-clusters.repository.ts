import { Injectable } from '@nestjs/common';
import { finds, rows, type Db, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ClusterUse } from '../model/cluster-use';
import type { Cluster } from '../model/entities/cluster.entity';

/** Reads the running clusters that have had no job for longer than their `idle_timeout_ms`. */
@Injectable()
export class IdleClustersRepository {
  constructor(private readonly use: ClusterUse) {}

  /** A condition that is true if {@link findIds} would return a cluster. */
  readonly hasIdle = (): string => finds(`SELECT cluster_id FROM clusters c WHERE ${this.idleCondition}`);

  async findIds(db: Db): Promise<number[]> {
    const found = await rows<Pick<Cluster, 'cluster_id'>>(
      db,
      `SELECT cluster_id FROM clusters c WHERE ${this.idleCondition} LIMIT 50`,
    );
    return found.map(({ cluster_id }) => cluster_id);
  }

  async isIdle(tx: Tx, clusterId: number): Promise<boolean> {
    return (
      (await rows(tx, `SELECT 1 FROM clusters c WHERE c.cluster_id = $1 AND ${this.idleCondition}`, [clusterId]))
        .length > 0
    );
  }

  private get idleCondition(): string {
    return `c.status = 'RUNNING' AND c.last_active_at < platform_now() - c.idle_timeout_ms * interval '1 millisecond'
      AND NOT ${this.use.isInUse('c')}`;
  }
}
