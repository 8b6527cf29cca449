import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery, ResultSet } from '../../../../../platform/kernel/dto/page';
import { MountRead } from '../../../../infrastructure/storage';
import { STORAGE_TYPES } from '../../../../foundation/reference-data';
import { CLUSTER_STATUSES } from '../../model/cluster-state';

const oneIsRequired = ['cluster_id', 'mount_id'];

export class ClusterMountsQuery extends PageQuery {
  @Param.id({ description: 'The cluster whose mounts are listed; this or mount_id is required', oneIsRequired })
  cluster_id?: number;
  @Param.id({ description: 'The mount whose clusters are listed; this or cluster_id is required', oneIsRequired })
  mount_id?: number;
  @Param.someOf(STORAGE_TYPES, { description: 'Only mounts of stores of these types' }) storage_types?: string[];
}

@About('A cluster whose jobs see the mount.')
class MountedClusterRef {
  @Field.id() cluster_id: number;
  @Field.text({ description: 'Name of the cluster' }) name: string;
  @Field.oneOf(CLUSTER_STATUSES) cluster_status: string;
}

@About('One mount on one cluster.')
export class ClusterMountRead {
  @Field.object(() => MountedClusterRef, { description: 'The cluster' }) cluster: MountedClusterRef;
  @Field.object(() => MountRead) mount: MountRead;
}

@About('A page of mounts on clusters.')
export class ClusterMountPage {
  @Field.objects(() => ClusterMountRead, { description: 'The mounts on clusters of this page' })
  cluster_mounts: ClusterMountRead[];
  @Field.object(() => ResultSet) result_set: ResultSet;
}
