import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { CLUSTER_STATUSES, NODE_STATUSES } from '../../model/cluster-state';

export class ClusterPageQuery extends RecordSelectorQuery('cluster') {
  @Param.int32({ min: 1, max: 1000, default: 100, description: 'Records per page, at most 1000' }) limit: number = 100;
  @Param.int32({ min: 1, default: 1 }) pageNumber: number = 1;
}

export class ClusterNodeStatesQuery extends ClusterPageQuery {
  @Param.int64({ min: 0, description: 'Only states of the node with this number; of every node if it is absent' })
  node_number?: number;
}

export class ClusterErrorsQuery extends PageQuery {
  @Param.id({ optional: false, description: 'Id of the state of a node, as `listClusterNodeStates` lists them' })
  node_status_id: number;
}

export class NodeLogQuery extends RecordSelectorQuery('cluster') {
  @Param.id({ optional: false, description: 'Id of any state of the node, as `listClusterNodeStates` lists them' })
  node_status_id: number;
  @Param.int32({ min: 1, max: 1000, description: 'Returns only the last lines, up to this number' })
  last_n_lines?: number;
  @Param.int64({ min: 1, description: 'Returns only the first bytes, up to this number' }) file_size_bytes?: number;
  @Param.int64({
    min: 0,
    description:
      'Only the log from this byte on; to continue, send the value of the x-log-offset header of the last response',
  })
  offset?: number;
}

const STEP = 'The workflow step in which the state was entered; null before the first step, or without a workflow';

@About('One state that a cluster has or had.')
export class ClusterStateEvent {
  @Field.id({ description: 'Id of the entry in the history' }) cluster_status_id: number;
  @Field.oneOf(CLUSTER_STATUSES) cluster_status: string;
  @Field.int64({ description: 'Number of nodes in that state' }) current_node_size: number;
  @Field.text({ nullable: true, description: 'User name; null if the platform caused it' }) created_by: string | null;
  @Field.text({
    nullable: true,
    description: 'Why the cluster entered the state, with the cause of an error; null if there is nothing to say',
  })
  reason: string | null;
  @Field.text({ nullable: true, description: STEP }) step: string | null;
  @Field.timestamp({ description: 'When the cluster entered the state' }) start_time: Date;
  @Field.text({ description: 'When the cluster left the state, in ISO 8601; `infinity` for the current one' })
  end_time: Date | string;
}

@About('One state that a node of a cluster has or had.')
export class ClusterNodeStateEvent {
  @Field.id() node_status_id: number;
  @Field.int64() node_number: number;
  @Field.oneOf(NODE_STATUSES) node_status: string;
  @Field.id({
    optional: true,
    description:
      'Id of the state that the cluster had then, as `listClusterStates` lists them; absent if none is known',
  })
  cluster_status_id?: number;
  @Field.text({ nullable: true, description: 'Name of the user who caused it; null if the platform did' }) created_by:
    | string
    | null;
  @Field.text({
    nullable: true,
    description: 'Why the node entered the state, with the cause of an error; null if there is nothing to say',
  })
  reason: string | null;
  @Field.text({ nullable: true, description: STEP }) step: string | null;
  @Field.timestamp({ description: 'When the node entered the state' }) start_time: Date;
  @Field.text({ description: 'When the node left the state, in ISO 8601; `infinity` for the current one' }) end_time:
    | Date
    | string;
}

@About('An error of a workflow of the cluster.')
export class ClusterErrorRead {
  @Field.text({ description: 'What failed, in plain words' }) error: string;
}
