import { nameEnum } from '../../../../platform/kernel/dto/named-enums';
import { Field } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { RUN_RESOURCES } from '../../runs';

export const PRICINGS = nameEnum(
  'Pricing',
  ['PRICED', 'NO_PRICE', 'PARTLY_PRICED', 'SEVERAL_CURRENCIES'],
  'If the time of nodes has a price in money.',
  {
    NO_PRICE: 'the operator has set no price for the time, so that only hours and compute units are known',
    PARTLY_PRICED: 'some days of the time are before the first price',
    SEVERAL_CURRENCIES: 'the currency changed within the time; ask for shorter times to see the amounts',
  },
);
export type Pricing = (typeof PRICINGS)[number];

@About('What some time of nodes costs.')
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
  @Field.id({ description: 'Id of the stay of the node in RUNNING, which is that of the entry in its history' })
  node_state_id: number;
  @Field.id({ description: 'Id of the node' }) node_id: number;
  @Field.text({ description: 'Name of the machine type' }) machine_type: string;
  @Field.number({ description: 'Compute units per hour of the machine' }) machine_price_ycu: number;
  @Field.boolean({ description: 'True if the machine is a spot machine' }) is_spot: boolean;
  @Field.int32({ description: 'Number of runs that the node holds at once; a slot is this part of it' }) slots: number;
  @Field.timestamp({ description: 'When the node entered RUNNING; shares are counted from here' }) running_since: Date;
  @Field.timestamp({ description: 'From when the run held its slot while the node was RUNNING' }) from_date: Date;
  @Field.timestamp({ description: 'Until when' }) to_date: Date;
  @Field.int64({
    description:
      'The share of the run in milliseconds of the node: the whole part of the time since `running_since` until `to_date` divided by `slots`, less the same until `from_date`',
  })
  share_ms: number;
}

/** Intervals that an answer shows. Only runs of many days on many nodes have more. */
export const MAX_INTERVALS = 1_000;

@About('What a run costs: its share of the RUNNING time of its nodes.')
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
    description: `The intervals that the cost is the sum of, oldest first; the first ${MAX_INTERVALS}`,
  })
  intervals: RunCostInterval[];
  @Field.boolean({ description: `True if the run has more than ${MAX_INTERVALS} intervals; the cost includes all` })
  is_truncated: boolean;
}
