import type { AcceleratorKind } from '../../../../../libs/contracts/agent-protocol';
import type { Cluster } from './entities/cluster.entity';

/** Returns the accelerator of the cluster's queries. A cluster has at most one. */
export function acceleratorOf(cluster: Pick<Cluster, 'is_turbo_enabled' | 'is_cuda_enabled'>): AcceleratorKind | null {
  if (cluster.is_turbo_enabled) return 'turbo';
  return cluster.is_cuda_enabled ? 'cuda' : null;
}
