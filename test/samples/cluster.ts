import type {
  CreateCluster,
  UpdateCluster,
} from '../../src/modules/execution/clusters/definition/dto/cluster-input.dto';
import type { Cluster } from '../../src/modules/execution/clusters/model/entities/cluster.entity';
import { REFERENCE } from './reference';
import { type Request, sample } from './sample';

type Needed = 'cloud_env_id' | 'cluster_conf_id';
type Given = Needed | 'spark_infra_version_id' | 'cluster_type' | 'is_spot_instance' | 'enable_public_ip';

/** A cluster of one node. */
export const cluster = sample<Request<CreateCluster, Given>, UpdateCluster, Cluster, Needed>({
  path: '/cluster',
  body: ({ cloud_env_id, cluster_conf_id }) => ({
    cloud_env_id,
    cluster_conf_id,
    spark_infra_version_id: REFERENCE.spark_infra_version_id,
    cluster_type: 'PLATFORM',
    min_instances: 1,
    max_instances: 1,
    is_spot_instance: false,
    enable_public_ip: false,
  }),
  change: { description: 'changed' },
});
