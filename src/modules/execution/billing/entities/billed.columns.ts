import { Col } from '../../../../platform/kernel/persistence/columns';

/**
 * Names and labels of billed usage at that moment. No column refers to another table, so that billed usage stays
 * unchanged when cluster, tenant or machine type change.
 */
export abstract class BilledColumns {
  @Col.text() tenant_name: string;
  @Col.text() cluster_name: string;
  @Col.text() cloud_provider: string;
  @Col.text() machine_type: string;
  @Col.json() labels: Record<string, string>;
}

export abstract class IntervalColumns extends BilledColumns {
  @Col.uuid() tenant_id: string;
  @Col.bigint() cluster_id: number;
  @Col.int() machine_type_id: number;
  /** Hash of the labels, which are too long for a key. */
  @Col.uuid() labels_key: string;
  @Col.bigint() node_id: number;
  /** Compute units per hour. */
  @Col.decimal() machine_price_ycu: string;
  @Col.bool() is_spot: boolean;
  /** Runs that a node of the cluster holds at once; null in entries of earlier releases. Only shares of runs need it. */
  @Col.int({ nullable: true }) slots: number | null;
  /** Start time of the entry in the node's history. */
  @Col.time() began_at: Date;
}

export abstract class SummedColumns extends BilledColumns {
  /** Start of the latest stay, which the names are taken from. */
  @Col.time() named_at: Date;
}
