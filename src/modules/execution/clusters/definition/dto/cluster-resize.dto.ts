import { Field } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { CLUSTER_STATUSES } from '../../model/cluster-state';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { INSTANCES } from './cluster-input.dto';

const WHICH = 'of nodes, or of workers of a CLUSTER';

@Example({ cluster_name: 'example-cluster', min_instances: 1, max_instances: 2 })
@About(
  'Names a cluster by cluster_id, cluster_name or both, and its new minimum, maximum or both. For an exact number, both are that number.',
)
export class ResizeCluster extends RecordSelectorQuery('cluster') {
  @Field.int64({
    ...INSTANCES,
    description: `New minimum ${WHICH}, 1 to 30; the present one if absent. Missing nodes are added at once`,
  })
  min_instances?: number;
  @Field.int64({
    ...INSTANCES,
    description: `New maximum ${WHICH}, 1 to 30; the present one if absent. Nodes above it get no new jobs, and are removed when theirs have ended`,
  })
  max_instances?: number;
}

@About('The bounds that a cluster has from now on, and what follows for its nodes.')
export class ClusterResize {
  @Field.id() cluster_id: number;
  @Field.text({ description: 'Name of the cluster' }) cluster_name: string;
  @Field.oneOf(CLUSTER_STATUSES, { description: 'State of the cluster when the resize was accepted' })
  cluster_status: string;
  @Field.int64({ description: `Minimum ${WHICH}` }) min_instances: number;
  @Field.int64({ description: `Maximum ${WHICH}` }) max_instances: number;
  @Field.int64({ description: 'Minimum before the request' }) min_instances_before: number;
  @Field.int64({ description: 'Maximum before the request' }) max_instances_before: number;
  @Field.int64({ description: 'Nodes, or workers of a CLUSTER, that run or start, without those that leave' })
  instances: number;
  @Field.int64({ description: 'Number to be added to reach the minimum' }) instances_to_add: number;
  @Field.int64({
    description: 'Number to be removed to reach the maximum; busy ones are removed when their jobs have ended',
  })
  instances_to_remove: number;
}
