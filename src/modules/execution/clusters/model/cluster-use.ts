/**
 * Asks the domain that uses clusters what runs on one and what waits for it. Its methods return SQL about the row of the
 * cluster, which becomes part of the deciding statement, so that nothing changes between the question and the decision.
 */
export abstract class ClusterUse {
  /**
   * Returns an SQL condition that something keeps the cluster from being idle.
   * @param cluster alias of its row
   */
  abstract isInUse(cluster: string): string;

  /**
   * Returns a sub-select with the `from_date` of each waiting run of the cluster, oldest first.
   * @param limit SQL expression
   */
  abstract waiting(cluster: string, limit: string): string;
}
