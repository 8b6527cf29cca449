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

@About(
  'Memory that runs requested and did not use. Its price is an upper estimate: as if a node were paid for by its memory alone.',
)
export class UnusedMemory {
  @Field.int64({
    description:
      'The part of `node_ms` of the runs that has been measured, in milliseconds: the time of runs that have ended and whose nodes reported what they used, on the nodes of their drivers',
  })
  measured_ms: number;
  @Field.number({
    description: 'Unused memory in GiB times the hours for which runs held it, rounded half up to six decimals',
  })
  gib_hours: number;
  @Field.number({
    description:
      'Compute units of the runs times unused memory divided by the memory of their slots, rounded half up to six decimals',
  })
  ycu: number;
  @Field.number({
    nullable: true,
    description:
      'Price of these compute units, rounded half up to six decimals; null unless the cost of runs is PRICED',
  })
  amount: number | null;
}

@About('The memory of a run on the node of its driver. Executors on other nodes are not part of it.')
export class RunMemory {
  @Field.int32({
    description:
      'Memory that the driver requested, in MiB: its heap (`driver_memory`, or its share of the node), and what an accelerator has beside it; no more than the node has',
  })
  requested_mb: number;
  @Field.int32({
    description:
      'Highest resident memory of its processes, in MiB, as its node reported it: the JVM, Python, and all that they started. Memory that they share counts for each of them',
  })
  peak_mb: number;
  @Field.int32({ description: '`requested_mb` minus `peak_mb`, in MiB; 0 if the run used more than it requested' })
  unused_mb: number;
  @Field.int32({
    nullable: true,
    description:
      'Driver memory that covers the peak, in MiB, rounded up to 64, at least 512; null if it is not less than `requested_mb`. An estimate: with a smaller heap, Spark may spill more',
  })
  sufficient_mb: number | null;
  @Field.object(() => UnusedMemory, {
    description: 'What the unused memory is over the time of the run, and its price',
  })
  unused: UnusedMemory;
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
  @Field.object(() => RunMemory, {
    nullable: true,
    description:
      'What the run requested and used of the memory of its slot; null while it is active, and if its memory was not measured, for example because it ended within a second',
  })
  memory: RunMemory | null;
  @Field.objects(() => RunCostInterval, {
    description: `The intervals that add up to the cost, oldest first; at most the first ${MAX_INTERVALS}`,
  })
  intervals: RunCostInterval[];
  @Field.boolean({
    description: `True if the run has more than ${MAX_INTERVALS} intervals; the cost includes all of them`,
  })
  is_truncated: boolean;
}
