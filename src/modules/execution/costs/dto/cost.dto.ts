import { nameEnum } from '../../../../platform/kernel/dto/named-enums';
import { Field } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { RUN_RESOURCES } from '../../runs';

export const PRICINGS = nameEnum(
  'Pricing',
  ['PRICED', 'NO_PRICE', 'PARTLY_PRICED', 'SEVERAL_CURRENCIES'],
  'Whether node time has a price in money.',
  {
    NO_PRICE: 'the operator has set no price for that time; only hours and compute units are known',
    PARTLY_PRICED: 'the time begins before the first price applies',
    SEVERAL_CURRENCIES: 'the currency changed within the time; request shorter periods to see amounts',
  },
);
export type Pricing = (typeof PRICINGS)[number];

@About('The cost of node time.')
export class Cost {
  @Field.int64({ description: 'Milliseconds for which nodes were RUNNING, summed over all nodes; exact' })
  node_ms: number;
  @Field.number({
    description: 'Compute units: hours times the price of the machine, rounded half up to six decimals',
  })
  ycu: number;
  @Field.oneOf(PRICINGS, { description: 'PRICED if `amount` is known' }) pricing: Pricing;
  @Field.number({
    nullable: true,
    description: 'Price of the time, rounded half up to six decimals; null unless it is PRICED',
  })
  amount: number | null;
  @Field.text({ nullable: true, description: 'Currency of the amount, as in ISO 4217; null unless it is PRICED' })
  currency: string | null;
}

@About('A part of the RUNNING time of a node in which a run held a slot, within one day (UTC), with its share.')
export class RunCostInterval {
  @Field.id({ description: 'Id of the RUNNING entry in the history of the node' })
  node_state_id: number;
  @Field.id({ description: 'Id of the node' }) node_id: number;
  @Field.text({ description: 'Name of the machine type' }) machine_type: string;
  @Field.number({ description: 'Compute units per hour of the machine' }) machine_price_ycu: number;
  @Field.boolean({ description: 'True if the machine is a spot machine' }) is_spot: boolean;
  @Field.int32({ description: 'Number of runs that the node holds at once; a slot is this part of it' }) slots: number;
  @Field.timestamp({ description: 'When the node entered RUNNING; shares are counted from here' }) running_since: Date;
  @Field.timestamp({ description: 'When the interval began: the run held its slot, and the node was RUNNING' })
  from_date: Date;
  @Field.timestamp({ description: 'When the interval ended' }) to_date: Date;
  @Field.int64({
    description:
      'The share of the run in milliseconds of the node: the time from `running_since` to `to_date` divided by `slots` and rounded down, minus the same for `from_date`',
  })
  share_ms: number;
}

/** Intervals that an answer shows. Only runs of many days on many nodes have more. */
export const MAX_INTERVALS = 1_000;

@About('The cost of a run: its share of the time in which its nodes were RUNNING.')
export class RunCost {
  @Field.id() run_id: number;
  @Field.oneOf(RUN_RESOURCES, { description: 'job if `getJob` returns the run, notebook if `getNotebook` does' })
  resource: string;
  @Field.text({ description: 'Name that the configuration had when the run was submitted' }) name: string;
  @Field.id({ description: 'The cluster of the run' }) cluster_id: number;
  @Field.timestamp({ nullable: true, description: 'When the run got its slot; null while it waits for one' })
  start_date: Date | null;
  @Field.timestamp({ nullable: true, description: 'When the run ended; null until then, and its cost grows' })
  end_date: Date | null;
  @Field.object(() => Cost, { description: 'The share of the run: until now while it holds its slot' }) cost: Cost;
  @Field.objects(() => RunCostInterval, {
    description: `The intervals that add up to the cost, oldest first; at most the first ${MAX_INTERVALS}`,
  })
  intervals: RunCostInterval[];
  @Field.boolean({
    description: `True if the run has more than ${MAX_INTERVALS} intervals; the cost includes all of them`,
  })
  is_truncated: boolean;
}
