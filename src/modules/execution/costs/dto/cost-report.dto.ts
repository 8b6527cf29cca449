import { nameEnum } from '../../../../platform/kernel/dto/named-enums';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { KeysetQuery, KeysetResultSet } from '../../../../platform/kernel/dto/keyset-page';
import { UserRef } from '../../../../platform/kernel/dto/response-fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { Cost, UnusedMemory } from './cost.dto';

export const COST_PARTS = nameEnum(
  'CostPart',
  ['day', 'workspace', 'cluster', 'user', 'run'],
  'What costs are grouped by.',
  { day: 'days (UTC), the latest first; all others are ordered by cost, the highest first' },
);
export type CostPart = (typeof COST_PARTS)[number];

export class CostQuery extends KeysetQuery {
  @Param.day({ optional: false, description: 'First day (UTC)' }) from: string;
  @Param.day({ optional: false, description: 'Last day (UTC), included; at most 366 days' }) until: string;
  @Param.oneOf(COST_PARTS, { default: 'day', description: 'What the costs are grouped by' }) by: string = 'day';
  @Param.id({ description: 'Only runs of this workspace' }) workspace_id?: number;
  @Param.text({ description: 'Only runs of the workspace with this name' }) workspace_name?: string;
  @Param.ids({ description: 'Only these clusters' }) cluster_ids?: number[];
  @Param.ids({ description: 'Only runs that one of these users submitted' }) created_by_ids?: number[];
}

@About('A workspace, cluster or run that a line of costs is about.')
export class CostSubject {
  @Field.id({ description: 'Id of the workspace, the cluster or the run' }) id: number;
  @Field.text({
    nullable: true,
    description: 'Its name; for a run that of its configuration; null if the record is no longer there',
  })
  name: string | null;
}

@About('Costs of a day, workspace, cluster, user or run.')
export class CostLine {
  @Field.day({ nullable: true, description: 'The day (UTC); null unless costs are grouped by day' }) day: string | null;
  @Field.object(() => CostSubject, {
    nullable: true,
    description: 'The workspace; null unless costs are grouped by workspace or run',
  })
  workspace: CostSubject | null;
  @Field.object(() => CostSubject, {
    nullable: true,
    description: 'The cluster; null unless costs are grouped by cluster or run',
  })
  cluster: CostSubject | null;
  @Field.object(() => UserRef, {
    nullable: true,
    description: 'The user; null unless costs are grouped by user or run, and for runs of the platform itself',
  })
  user: UserRef | null;
  @Field.object(() => CostSubject, { nullable: true, description: 'The run; null unless costs are grouped by run' })
  run: CostSubject | null;
  @Field.object(() => Cost, { description: 'The shares of runs' }) runs: Cost;
  @Field.object(() => UnusedMemory, {
    nullable: true,
    description:
      'Memory that these runs requested and did not use; null if none of them was measured. It is part of `runs`, not beside it',
  })
  unused_memory: UnusedMemory | null;
  @Field.object(() => Cost, {
    nullable: true,
    description:
      'The time of nodes that no run held; null unless an administrator requests the whole tenant by day or cluster',
  })
  idle: Cost | null;
  @Field.object(() => Cost, { nullable: true, description: 'All time of nodes: `runs` and `idle`; null as `idle` is' })
  nodes: Cost | null;
}

@About('The costs of the whole period.')
export class CostTotal {
  @Field.object(() => Cost, { description: 'The shares of runs' }) runs: Cost;
  @Field.object(() => UnusedMemory, {
    nullable: true,
    description:
      'Memory that these runs requested and did not use; null if none of them was measured. It is part of `runs`, not beside it',
  })
  unused_memory: UnusedMemory | null;
  @Field.object(() => Cost, {
    nullable: true,
    description: 'The time of nodes that no run held; null unless an administrator requests the whole tenant',
  })
  idle: Cost | null;
  @Field.object(() => Cost, { nullable: true, description: 'All time of nodes: `runs` and `idle`; null as `idle` is' })
  nodes: Cost | null;
}

@About('One page of costs, and the sums of the period.')
export class CostReport {
  @Field.objects(() => CostLine, { description: 'The lines of the page' }) data: CostLine[];
  @Field.object(() => CostTotal, { description: 'The sums of the whole period, whatever the page' }) total: CostTotal;
  @Field.timestamp({ description: 'Time up to which nodes and runs that have not ended are counted' }) as_of: Date;
  @Field.object(() => KeysetResultSet) result_set: KeysetResultSet;
}
