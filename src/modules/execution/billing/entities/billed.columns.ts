import { Col } from '../../../../platform/kernel/persistence/columns';

/**
 * Whose use of what is billed. Names and labels are those of that moment, and no column refers to another table: what
 * was billed stays as it was, whatever becomes of cluster, tenant and machine type.
 */
export abstract class BilledColumns {
  @Col.text() tenant_name: string;
  @Col.text() cluster_name: string;
  @Col.text() cloud_provider: string;
  @Col.text() machine_type: string;
  @Col.json() labels: Record<string, string>;
}

/** The columns of something that a node did while it was RUNNING. */
export abstract class IntervalColumns extends BilledColumns {
  @Col.uuid() tenant_id: string;
  @Col.bigint() cluster_id: number;
  @Col.int() machine_type_id: number;
  /** Hash of the labels, which are too long to be part of a key. */
  @Col.uuid() labels_key: string;
  @Col.bigint() node_id: number;
  /** Compute units per hour. */
  @Col.decimal() machine_price_ycu: string;
  @Col.bool() is_spot: boolean;
  /** Start of the entry of the node's history. */
  @Col.time() began_at: Date;
}

/** The columns of what is summed up. */
export abstract class SummedColumns extends BilledColumns {
  /** Beginning of the stay that the names are of: the last one. */
  @Col.time() named_at: Date;
}
