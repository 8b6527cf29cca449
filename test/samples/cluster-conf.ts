import type {
  CreateClusterConf,
  UpdateClusterConf,
} from '../../src/modules/infrastructure/environments/cluster-configurations/dto/cluster-conf.dto';
import type { ClusterConf } from '../../src/modules/infrastructure/environments/cluster-configurations/entities/cluster-conf.entity';
import { REFERENCE } from './reference';
import { sample } from './sample';

export const clusterConf = sample<CreateClusterConf, UpdateClusterConf, ClusterConf, 'volume_conf_id'>({
  path: '/cluster/conf',
  body: ({ volume_conf_id }) => ({ machine_type_id: REFERENCE.machine_type_id, volume_conf_id }),
  change: { description: 'changed' },
});
