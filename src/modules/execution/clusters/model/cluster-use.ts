/**
 * Asks the domain that uses clusters what runs on one and what waits for it. The answer is SQL about the row of the cluster, and
 * becomes a part of the statement that decides, so that nothing changes between the question and the decision.
 */
export abstract class ClusterUse {
  /** SQL condition that something keeps the cluster from being idle. @param cluster alias of its row */
  abstract isInUse(cluster: string): string;

  /** Sub-select of the `from_date` of what waits for a slot of the cluster, oldest first. @param limit SQL, too */
  abstract waiting(cluster: string, limit: string): string;
}
