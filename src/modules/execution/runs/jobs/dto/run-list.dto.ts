import { nameEnum } from '../../../../../platform/kernel/dto/named-enums';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { KeysetQuery, KeysetResultSet } from '../../../../../platform/kernel/dto/keyset-page';
import { UserRef } from '../../../../../platform/kernel/dto/response-fields';
import { About } from '../../../../../platform/kernel/dto/schemas';
import { SPARK_JOB_TYPES } from '../../../../foundation/reference-data';
import { RUN_RESOURCES } from '../job-types';
import { REASON_CODES } from '../reason-codes';
import { RUN_STATUSES } from '../run-state';

/** Values that runs are sorted by. Runs that have no such value yet are not in the list. */
export const RUN_SORTS = nameEnum('RunSort', ['submit_date', 'start_date', 'duration'], 'What runs are sorted by.');
export type RunSort = (typeof RUN_SORTS)[number];

export const SORT_ORDERS = nameEnum('SortOrder', ['desc', 'asc'], 'The order of a list.', {
  desc: 'the latest or longest first',
  asc: 'the opposite',
});

export class RunListQuery extends KeysetQuery {
  @Param.id({ description: 'Only runs of this workspace' }) workspace_id?: number;
  @Param.text({ description: 'Only runs of the workspace with this name' }) workspace_name?: string;
  @Param.someOf(RUN_STATUSES, { description: 'Only runs with one of these statuses' }) run_status?: string[];
  @Param.someOf(SPARK_JOB_TYPES, {
    description: 'Only runs of these types: SPARK_JOB, NOTEBOOK, or that of a function or SQL server',
  })
  run_type?: string[];
  @Param.ids({ description: 'Only runs that one of these users submitted' }) created_by_ids?: number[];
  @Param.ids({ description: 'Only runs on these clusters' }) cluster_ids?: number[];
  @Param.text({
    maxLength: 256,
    description: 'Only runs whose name contains this text, ignoring case',
  })
  name?: string;
  @Param.timestamp({ description: 'Only runs that were submitted at or after this time' }) from?: Date;
  @Param.timestamp({ description: 'Only runs that were submitted before this time' }) to?: Date;
  @Param.oneOf(RUN_SORTS, {
    default: 'submit_date',
    description:
      'What the list is sorted by; start_date lists only runs that have started, and duration only those that have ended after a start',
  })
  sort: RunSort = 'submit_date';
  @Param.oneOf(SORT_ORDERS, {
    default: 'desc',
    description: 'desc for the latest or longest first, asc for the opposite',
  })
  order: (typeof SORT_ORDERS)[number] = 'desc';
}

@About('The workspace of a run.')
export class RunWorkspaceRef {
  @Field.id() workspace_id: number;
  @Field.text({ description: 'Name of the workspace' }) name: string;
}

@About('The cluster of a run.')
export class RunClusterRef {
  @Field.id() cluster_id: number;
  @Field.text({ description: 'Name of the cluster' }) name: string;
}

@About('A run in a list: a job or a notebook instance, with what a list shows of it.')
export class RunListEntry {
  @Field.id() run_id: number;
  @Field.oneOf(RUN_RESOURCES, { description: 'job if `getJob` returns the run, notebook if `getNotebook` does' })
  resource: string;
  @Field.text({
    description: 'SPARK_JOB, NOTEBOOK, THRIFT_SQL for an SQL server, or the type of a function',
    example: 'SPARK_JOB',
  })
  run_type: string;
  @Field.text({ description: 'Language of the configuration', example: 'Python3' }) language: string;
  @Field.id({ description: 'Id of the job or notebook configuration' }) conf_id: number;
  @Field.text({ description: 'Name that the configuration had when the run was submitted' }) name: string;
  @Field.object(() => RunWorkspaceRef, { description: 'The workspace of the run' }) workspace: RunWorkspaceRef;
  @Field.object(() => RunClusterRef, { description: 'The cluster of the run' }) cluster: RunClusterRef;
  @Field.oneOf(RUN_STATUSES, { description: 'Status of the run' }) run_status: string;
  @Field.text({ nullable: true, description: "Spark's application id; null until the application has started" })
  application_id: string | null;
  @Field.object(() => UserRef, { nullable: true, description: 'Who submitted the run; null if the platform did' })
  created_by: UserRef | null;
  @Field.timestamp({ description: 'When the run was submitted' }) submit_date: Date;
  @Field.timestamp({ nullable: true, description: 'When it got a slot on a node; null while it waits for one' })
  start_date: Date | null;
  @Field.timestamp({ nullable: true, description: 'When the run ended; null until then' }) end_date: Date | null;
  @Field.int64({
    nullable: true,
    description: 'Milliseconds from start to end; null until the run has ended, and if it never started',
  })
  duration_ms: number | null;
  @Field.oneOf(REASON_CODES, { nullable: true, description: 'Why the run ended; null until then' }) reason_code:
    | string
    | null;
  @Field.text({ nullable: true, description: 'Why the run ended, in plain words; null until then' }) reason:
    | string
    | null;
}

@About('One page of a list of runs.')
export class RunList {
  @Field.objects(() => RunListEntry, { description: 'The runs of the page' }) data: RunListEntry[];
  @Field.object(() => KeysetResultSet) result_set: KeysetResultSet;
}
