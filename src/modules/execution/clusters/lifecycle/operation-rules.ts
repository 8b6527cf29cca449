import { conflict } from '../../../../platform/kernel/errors/domain-error';
import type { LockedCluster } from '../model/cluster-rows.repository';
import { CLUSTER_OPERATIONS, type ClusterOperation, type ClusterStatus } from '../model/cluster-state';
import { endsSpot } from '../model/compute-support';
import type { Cluster } from '../model/entities/cluster.entity';

export function assertEnabled({ name, active }: Pick<LockedCluster, 'name' | 'active'>): void {
  if (!active) throw conflict('CLUSTER.DISABLED', `The cluster "${name}" is disabled. Enable it first.`);
}

/** Formats a list of states: "STOPPED", "RUNNING, STOPPED or ERROR". */
const LIST_OF_STATES = new Intl.ListFormat('en-GB', { type: 'disjunction' });

export function assertAllowed(operation: ClusterOperation, cluster: Pick<Cluster, 'name' | 'status'>): void {
  const from: readonly ClusterStatus[] = CLUSTER_OPERATIONS[operation].from;
  if (!from.includes(cluster.status))
    throw invalidState(cluster, `${operation} needs ${LIST_OF_STATES.format(from)}`, from);
}

/** Returns a 409 that names the states that an operation requires. */
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

/** True if a stop destroys the cluster's nodes, because its provider cannot stop spot machines. */
export function stopDestroysNodes({
  is_spot_instance,
  environment,
}: Pick<LockedCluster, 'is_spot_instance' | 'environment'>): boolean {
  return is_spot_instance && endsSpot(environment.cloud_provider_id, environment.endpoint);
}
