import { conflict } from '../../../../platform/kernel/errors/domain-error';
import type { LockedCluster } from '../model/cluster-rows.repository';
import { CLUSTER_OPERATIONS, type ClusterOperation, type ClusterStatus } from '../model/cluster-state';
import { endsSpot } from '../model/compute-support';
import type { Cluster } from '../model/entities/cluster.entity';

/** Throws a 409 for a disabled cluster. */
export function assertEnabled({ name, active }: Pick<LockedCluster, 'name' | 'active'>): void {
  if (!active) throw conflict('CLUSTER.DISABLED', `The cluster "${name}" is disabled. Enable it first.`);
}

/** "STOPPED", "RUNNING, STOPPED or ERROR". */
const EITHER = new Intl.ListFormat('en-GB', { type: 'disjunction' });

export function assertMay(operation: ClusterOperation, cluster: Pick<Cluster, 'name' | 'status'>): void {
  const from: readonly ClusterStatus[] = CLUSTER_OPERATIONS[operation].from;
  if (!from.includes(cluster.status)) throw invalidState(cluster, `${operation} needs ${EITHER.format(from)}`, from);
}

/** A 409 that says which states an operation requires. */
export function invalidState(
  cluster: Pick<Cluster, 'name' | 'status'>,
  rule: string,
  needed: readonly ClusterStatus[],
): Error {
  return conflict('CLUSTER.INVALID_STATE', `The cluster "${cluster.name}" is ${cluster.status}: ${rule}.`, {
    cluster_status: cluster.status,
    needed,
  });
}

/** Whether nodes of the cluster do not outlast a stop: its provider cannot stop spot machines. */
export function stopDestroysNodes({
  is_spot_instance,
  environment,
}: Pick<LockedCluster, 'is_spot_instance' | 'environment'>): boolean {
  return is_spot_instance && endsSpot(environment.cloud_provider_id, environment.endpoint);
}
