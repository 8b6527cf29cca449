import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { PageQuery, ResultSet } from '../../../../../platform/kernel/dto/page';
import { MountRead } from '../../../../infrastructure/storage';
import { STORAGE_TYPES } from '../../../../foundation/reference-data';
import { CLUSTER_STATUSES } from '../../model/cluster-state';

export class ClusterMountsQuery extends PageQuery {
  @Param.id({ description: 'Mounts of this cluster' }) cluster_id?: number;
  @Param.id({ description: 'Clusters of this mount' }) mount_id?: number;
  @Param.someOf(STORAGE_TYPES) storage_types?: string[];
}

class MountedClusterRef {
  @Field.id() cluster_id: number;
  @Field.text() name: string;
  @Field.oneOf(CLUSTER_STATUSES) cluster_status: string;
}

export class ClusterMountRead {
  @Field.object(() => MountedClusterRef) cluster: MountedClusterRef;
  @Field.object(() => MountRead) mount: MountRead;
}

export class ClusterMountPage {
  @Field.objects(() => ClusterMountRead) cluster_mounts: ClusterMountRead[];
  @Field.object(() => ResultSet) result_set: ResultSet;
}
