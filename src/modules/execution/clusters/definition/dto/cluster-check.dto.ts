import { Field } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { CLUSTER_TYPES } from '../../model/cluster-state';
import { UpdateCluster } from './cluster-input.dto';

@Example({ name: 'another-cluster', cloud_env_id: 1, cluster_conf_id: 1, spark_infra_version_id: 6 })
@About(
  'A cluster that may be incomplete. With cluster_id, the fields are changes of that cluster; without it, those of a new one.',
)
export class CheckCluster extends UpdateCluster {
  @Field.id({ optional: true, description: 'Id of the cluster that would be changed; absent for a new one' })
  cluster_id?: number;
  @Field.oneOf(CLUSTER_TYPES, { optional: true, description: 'Type of a new cluster; ignored if cluster_id is sent' })
  cluster_type?: string;
}

@About('Why a cluster could not be stored as it is.')
export class ClusterFault {
  @Field.text({
    nullable: true,
    description: 'Path of the field, such as `name` or `spark_config.conf`; null if it is no single field',
  })
  field: string | null;
  @Field.text({ description: 'Code of the error that create or update would return' }) code: string;
  @Field.text({ description: 'What is missing or does not fit, and what to do' }) message: string;
}

@About('A choice that does not fit the rest of the cluster.')
export class ClusterMisfit {
  @Field.text({ description: 'Name of the field' }) field: string;
  @Field.id({ nullable: true, description: 'The value that does not fit; null if the field must be false' })
  value: number | null;
  @Field.text({ description: 'Why it does not fit' }) reason: string;
}

@About('What the nodes of a cluster cost while they run.')
export class ClusterCost {
  @Field.int64({ description: 'Minimum number of nodes, including the master of a CLUSTER' }) min_nodes: number;
  @Field.int64({ description: 'Maximum number of nodes, including the master of a CLUSTER' }) max_nodes: number;
  @Field.number({ description: 'Compute units per hour of the minimum number of nodes' }) min_ycu: number;
  @Field.number({ description: 'Compute units per hour of the maximum number of nodes' }) max_ycu: number;
  @Field.text({ nullable: true, description: 'Currency (ISO 4217) of the amounts; null if a unit has no price today' })
  currency: string | null;
  @Field.text({ nullable: true, description: 'Price of a compute unit, a decimal; null if it has none today' })
  unit_price: string | null;
  @Field.number({
    nullable: true,
    description: 'Price per hour of the minimum number of nodes; null if a unit has no price today',
  })
  min_amount: number | null;
  @Field.number({
    nullable: true,
    description: 'Price per hour of the maximum number of nodes; null if a unit has no price today',
  })
  max_amount: number | null;
}

@About('What a cluster lacks, which choices do not fit the rest of it, and what it would cost.')
export class ClusterCheck {
  @Field.boolean({ description: 'True if create or update would accept the cluster now' }) is_accepted: boolean;
  @Field.objects(() => ClusterFault, { description: 'Everything that is missing or does not fit' })
  faults: ClusterFault[];
  @Field.texts({
    description: 'Fields of the cluster that cannot change in its current state; empty for a new cluster',
  })
  fixed_fields: string[];
  @Field.text({ nullable: true, description: 'Why the fixed fields cannot change; null if there are none' })
  fixed_reason: string | null;
  @Field.objects(() => ClusterMisfit, {
    description:
      'Cluster configurations and Spark versions that do not fit the cloud environment, and features that cannot be enabled',
  })
  misfits: ClusterMisfit[];
  @Field.object(() => ClusterCost, {
    nullable: true,
    description: 'Cost per hour; null until cluster type and cluster configuration are known',
  })
  cost: ClusterCost | null;
}
