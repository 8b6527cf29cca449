import { conflict } from '../../../../platform/kernel/errors/domain-error';
import type { LockedCluster } from '../model/cluster-rows.repository';
import {
  CLUSTER_OPERATIONS,
  type ClusterOperation,
  type ClusterStatus,
  isResizable,
  RESIZABLE,
} from '../model/cluster-state';
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

const TO_UPDATE = 'Change min_instances and max_instances with updateCluster';

/** The remedy in each state in which a cluster cannot be resized. */
const INSTEAD_OF_RESIZE: Record<Exclude<ClusterStatus, (typeof RESIZABLE)[number]>, string> = {
  INITIATING: 'Wait until it is RUNNING',
  STOPPING: 'Wait until it is STOPPED, start it with startCluster, and resize it then',
  STOPPED:
    'Start it with startCluster and resize it then, or destroy it with destroyCluster and change min_instances and max_instances with updateCluster',
  DESTROYING: `Wait until it is DESTROYED. ${TO_UPDATE}`,
  DESTROYED: TO_UPDATE,
  ERROR: TO_UPDATE,
};

/** Throws a 409 with what to do instead unless the cluster runs. */
export function assertResizable(cluster: Pick<Cluster, 'name' | 'status'>): void {
  const { status } = cluster;
  if (isResizable(status)) return;
  throw invalidState(
    cluster,
    `resize needs ${LIST_OF_STATES.format(RESIZABLE)}. ${INSTEAD_OF_RESIZE[status]}`,
    RESIZABLE,
  );
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
