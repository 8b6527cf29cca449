import { Injectable } from '@nestjs/common';
import { rows, type Tx } from '../../../../platform/kernel/persistence/sql';
import type { Cluster } from '../model/entities/cluster.entity';

/** How long after its last sign a socket counts as open; seconds. */
const SEEN_SECONDS = 15;

/** Whether a notebook has had work within the idle time of its cluster, or has a client: others do not keep it running. */
const worksOrIsWatched = (
  run: string,
  cluster: string,
) => `NOT EXISTS (SELECT 1 FROM kernels k WHERE k.run_id = ${run}.run_id
  AND ${run}.status = 'RUNNING' AND k.state <> 'busy'
  AND k.last_activity < platform_now() - ${cluster}.idle_timeout_ms * interval '1 millisecond'
  AND NOT EXISTS (SELECT 1 FROM kernel_clients s WHERE s.run_id = k.run_id
    AND s.seen_at > platform_now() - interval '${SEEN_SECONDS} seconds'))`;

const IDLE = `c.status = 'RUNNING' AND c.last_active_at < platform_now() - c.idle_timeout_ms * interval '1 millisecond'
  AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.cluster_id = c.cluster_id AND r.ended_at IS NULL
    AND (r.kind = 'job' OR ${worksOrIsWatched('r', 'c')}))`;

/** Clusters that run and have had no job for longer than their `idle_timeout_ms`. */
@Injectable()
export class IdleClustersRepository {
  /** Ids of some of them. */
  async some(tx: Tx): Promise<number[]> {
    const found = await rows<Pick<Cluster, 'cluster_id'>>(
      tx,
      `SELECT cluster_id FROM clusters c WHERE ${IDLE} LIMIT 50`,
    );
    return found.map(({ cluster_id }) => cluster_id);
  }

  async has(tx: Tx, clusterId: number): Promise<boolean> {
    return (await rows(tx, `SELECT 1 FROM clusters c WHERE c.cluster_id = $1 AND ${IDLE}`, [clusterId])).length > 0;
  }
}
