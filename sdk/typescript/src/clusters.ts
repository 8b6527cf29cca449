import { ClusterFailed } from './failures.ts';
import {
  createCluster,
  destroyCluster,
  getCluster,
  listClusters,
  listClusterStates,
  resizeCluster,
  startCluster,
  stopCluster,
} from './generated/operations.ts';
import type {
  ClusterRead,
  ClusterRefBody,
  ClusterResize,
  ClusterStatus,
  CreateCluster,
  ResizeCluster,
} from './generated/types.ts';
import { chosen, type Context, type Ref } from './host.ts';
import type { Operation } from './operation.ts';
import { Deadline, Pauses, type WaitOptions } from './waiting.ts';

/** A cloud may take this long to create machines. */
const START_MS = 1_800_000;

/** A change of a cluster. `await` returns once the platform has accepted it, `wait()` once it is complete. */
export class ClusterChange implements PromiseLike<void> {
  readonly #accepted: Promise<void>;
  readonly #reached: (options: WaitOptions) => Promise<ClusterRead>;

  constructor(accepted: Promise<void>, reached: (options: WaitOptions) => Promise<ClusterRead>) {
    this.#accepted = accepted;
    this.#reached = reached;
  }

  /** Waits until the cluster has the status. @throws ClusterFailed if it ends up in ERROR or DESTROYED */
  async wait(options: WaitOptions = {}): Promise<ClusterRead> {
    await this.#accepted;
    return this.#reached(options);
  }

  then<T = void, E = never>(
    onAccepted?: ((value: void) => T | PromiseLike<T>) | null,
    onRefused?: ((reason: unknown) => E | PromiseLike<E>) | null,
  ): Promise<T | E> {
    return this.#accepted.then(onAccepted, onRefused);
  }
}

/** Bounds of the number of nodes, or of workers of a CLUSTER. One that is absent stays as it is. */
export type ClusterBounds = Pick<ResizeCluster, 'min_instances' | 'max_instances'>;

/** The clusters of the tenant. */
export class Clusters {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  list(filter: { status?: ClusterStatus | undefined; signal?: AbortSignal } = {}): AsyncGenerator<ClusterRead> {
    const { status, signal } = filter;
    const query = status === undefined ? {} : { cluster_status: [status] };
    return this.#context.transport.pages(listClusters, { query, signal });
  }

  get(cluster: Ref): Promise<ClusterRead> {
    return this.#context.transport.call(getCluster, { query: chosen('cluster', cluster) });
  }

  /** Creates a cluster without starting it. */
  async create(fields: CreateCluster): Promise<ClusterRead> {
    const { cluster_id } = await this.#context.transport.call(createCluster, { body: fields });
    return this.get(cluster_id);
  }

  start(cluster: Ref): ClusterChange {
    return this.#change(startCluster, cluster, 'RUNNING');
  }

  stop(cluster: Ref): ClusterChange {
    return this.#change(stopCluster, cluster, 'STOPPED');
  }

  /** Changes the minimum, the maximum or both of a running cluster. Returns what follows for its nodes, without waiting for it. */
  resize(cluster: Ref, bounds: ClusterBounds): Promise<ClusterResize> {
    return this.#context.transport.call(resizeCluster, { body: { ...chosen('cluster', cluster), ...bounds } });
  }

  destroy(cluster: Ref): ClusterChange {
    return this.#change(destroyCluster, cluster, 'DESTROYED');
  }

  /** Waits until the cluster has this status. @throws ClusterFailed if it ends up in ERROR or DESTROYED */
  async waitFor(cluster: Ref, status: ClusterStatus, options: WaitOptions = {}): Promise<ClusterRead> {
    const { timeoutMs = START_MS, signal } = options;
    const pauses = new Pauses(new Deadline(timeoutMs, `Waiting for cluster ${cluster} to become ${status}`), options);
    for (;;) {
      const query = chosen('cluster', cluster);
      const found = await this.#context.transport.call(getCluster, { query, signal });
      if (found.cluster_status === status) return found;
      if (found.cluster_status === 'ERROR' || found.cluster_status === 'DESTROYED') {
        throw new ClusterFailed(found.cluster_id, found.cluster_status, await this.#lastReason(found.cluster_id));
      }
      await pauses.next(found.cluster_status);
    }
  }

  async #lastReason(cluster_id: number): Promise<string | null> {
    const states = await this.#context.transport.call(listClusterStates, { query: { cluster_id, limit: 1 } });
    return states.data[0]?.reason ?? null;
  }

  #change(operation: Operation<{ body: ClusterRefBody }, unknown>, cluster: Ref, status: ClusterStatus): ClusterChange {
    const accepted = this.#context.transport.call(operation, { body: chosen('cluster', cluster) });
    return new ClusterChange(
      accepted.then(() => undefined),
      (options) => this.waitFor(cluster, status, options),
    );
  }
}

/** One cluster. Only its methods send requests. */
export class Cluster {
  readonly #clusters: Clusters;
  readonly ref: Ref;

  constructor(clusters: Clusters, ref: Ref) {
    this.#clusters = clusters;
    this.ref = ref;
  }

  details(): Promise<ClusterRead> {
    return this.#clusters.get(this.ref);
  }

  start(): ClusterChange {
    return this.#clusters.start(this.ref);
  }

  stop(): ClusterChange {
    return this.#clusters.stop(this.ref);
  }

  resize(bounds: ClusterBounds): Promise<ClusterResize> {
    return this.#clusters.resize(this.ref, bounds);
  }

  destroy(): ClusterChange {
    return this.#clusters.destroy(this.ref);
  }

  waitFor(status: ClusterStatus, options?: WaitOptions): Promise<ClusterRead> {
    return this.#clusters.waitFor(this.ref, status, options);
  }
}
