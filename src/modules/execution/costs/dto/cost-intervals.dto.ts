import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { KeysetQuery, KeysetResultSet } from '../../../../platform/kernel/dto/keyset-page';
import { About } from '../../../../platform/kernel/dto/schemas';
import { Cost } from './cost.dto';

export class CostIntervalsQuery extends KeysetQuery {
  @Param.day({ optional: false, description: 'First day (UTC)' }) from: string;
  @Param.day({ optional: false, description: 'Last day (UTC), included; at most 366 days' }) until: string;
  @Param.ids({ description: 'Only nodes of these clusters' }) cluster_ids?: number[];
}

@About('The part of a stay of a node in RUNNING that is within the period, with its cost.')
export class CostInterval {
  @Field.id({ nullable: true, description: 'Id of the entry in the ledger; null while the node is RUNNING' })
  ledger_entry_id: number | null;
  @Field.id({ description: 'Id of the RUNNING entry in the history of the node' }) node_state_id: number;
  @Field.id() cluster_id: number;
  @Field.text({ description: 'Name that the cluster had when the node entered RUNNING' }) cluster_name: string;
  @Field.id({ description: 'Id of the node' }) node_id: number;
  @Field.text({ description: 'Name of the machine type' }) machine_type: string;
  @Field.number({ description: 'Compute units per hour of the machine' }) machine_price_ycu: number;
  @Field.boolean({ description: 'True if the machine is a spot machine' }) is_spot: boolean;
  @Field.timestamp({ description: 'When the node entered RUNNING' }) running_since: Date;
  @Field.timestamp({ nullable: true, description: 'When the node left RUNNING; null until then' })
  running_until: Date | null;
  @Field.timestamp({ description: 'When the interval began: `running_since`, or the beginning of the period' })
  from_date: Date;
  @Field.timestamp({
    description: 'When the interval ended: `running_until`, the end of the period, or `as_of`',
  })
  to_date: Date;
  @Field.number({
    nullable: true,
    description: 'Price of one compute unit; null if the interval has no price, or several',
  })
  unit_price: number | null;
  @Field.object(() => Cost, { description: 'The cost of the time from `from_date` to `to_date`' }) cost: Cost;
}

@About('One page of the intervals of the ledger, and what all of them cost.')
export class CostIntervals {
  @Field.objects(() => CostInterval, { description: 'The intervals of the page, those that began last first' })
  data: CostInterval[];
  @Field.object(() => Cost, { description: 'The sum of all intervals of the period, whatever the page' }) total: Cost;
  @Field.timestamp({
    description: 'Time up to which nodes that are RUNNING are counted: that of the first page on all that follow it',
  })
  as_of: Date;
  @Field.object(() => KeysetResultSet) result_set: KeysetResultSet;
}
