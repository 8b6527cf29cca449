import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { CLUSTER_STATUSES, NODE_STATUSES } from '../../model/cluster-state';

export class ClusterPageQuery extends RecordSelectorQuery('cluster') {
  @Param.int32({ min: 1, max: 1000, default: 100 }) limit: number = 100;
  @Param.int32({ min: 1, default: 1 }) pageNumber: number = 1;
}

export class ClusterNodeStatesQuery extends ClusterPageQuery {
  @Param.int64({ min: 0 }) node_number?: number;
}

export class ClusterErrorsQuery extends PageQuery {
  @Param.id({ optional: false }) node_status_id: number;
}

export class NodeLogQuery extends RecordSelectorQuery('cluster') {
  @Param.id({ optional: false, description: 'A state of the node' }) node_status_id: number;
  @Param.int32({ min: 1, max: 1000, description: 'Returns only the last lines, up to this number' })
  last_n_lines?: number;
  @Param.int64({ min: 1, description: 'Returns only the first bytes, up to this number' }) file_size_bytes?: number;
}

const STEP =
  'An extension of this platform: the workflow step during which the state was entered; null before the first step, or without a workflow';

export class ClusterStateEvent {
  @Field.id() cluster_status_id: number;
  @Field.oneOf(CLUSTER_STATUSES) cluster_status: string;
  @Field.int64() current_node_size: number;
  @Field.text({ nullable: true, description: 'User name; null if the platform caused it' }) created_by: string | null;
  @Field.text({ nullable: true, description: 'Reason of the state' }) reason: string | null;
  @Field.text({ nullable: true, description: STEP }) step: string | null;
  @Field.timestamp() start_time: Date;
  @Field.text({ description: 'ISO 8601, or infinity for the current state' }) end_time: Date | string;
}

export class ClusterNodeStateEvent {
  @Field.id() node_status_id: number;
  @Field.int64() node_number: number;
  @Field.oneOf(NODE_STATUSES) node_status: string;
  @Field.id({ optional: true }) cluster_status_id?: number;
  @Field.text({ nullable: true }) created_by: string | null;
  @Field.text({ nullable: true }) reason: string | null;
  @Field.text({ nullable: true, description: STEP }) step: string | null;
  @Field.timestamp() start_time: Date;
  @Field.text({ description: 'ISO 8601, or infinity for the current state' }) end_time: Date | string;
}

export class ClusterErrorRead {
  @Field.text() error: string;
}
