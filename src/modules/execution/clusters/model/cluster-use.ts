/**
 * What runs on clusters and what waits for them, asked of the domain that knows. It answers in SQL about the row of a cluster, a part
 * of the statement that decides: nothing changes between question and decision, and no more is read than that needs.
 */
export abstract class ClusterUse {
  /** Condition that something keeps the cluster from being idle. @param cluster alias of its row */
  abstract isInUse(cluster: string): string;

  /** `from_date` of what waits for a slot of the cluster, oldest first, as a sub-select. @param limit SQL, too */
  abstract waiting(cluster: string, limit: string): string;
}
