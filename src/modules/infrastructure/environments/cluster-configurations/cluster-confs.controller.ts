import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import { CLUSTER_MANAGERS } from '../../../../platform/kernel/auth/roles';
import { ResourceController } from '../../../../platform/http/resources/resource-controller';
import {
  CreateClusterConf,
  ClusterConfListQuery,
  ClusterConfRead,
  ClusterConfSearchQuery,
  ClusterConfSelector,
  ClusterConfWrite,
  UpdateClusterConf,
} from './dto/cluster-conf.dto';
import { ClusterConfsService } from './cluster-confs.service';

@Controller()
export class ClusterConfsController extends ResourceController({
  one: 'ClusterConf',
  many: 'ClusterConfs',
  label: 'cluster configuration',
  tag: 'Infrastructure',
  notes: {
    create: 'The volume must be of the provider of the machine type.',
    update: 'While a cluster that uses it is neither DESTROYED nor in ERROR, only name and description can change.',
    delete: 'It must not be used by a cluster that is enabled and not DESTROYED.',
  },
  path: '/cluster/conf',
  listPath: '/cluster/confs',
  readAccess: Allow.tenant(),
  writeAccess: Allow.tenant(CLUSTER_MANAGERS),
  selector: ClusterConfSelector,
  listQuery: ClusterConfListQuery,
  searchQuery: ClusterConfSearchQuery,
  partOfName: (query: ClusterConfSearchQuery) => query.cluster_conf_name,
  create: CreateClusterConf,
  update: UpdateClusterConf,
  read: ClusterConfRead,
  write: ClusterConfWrite,
}) {
  constructor(service: ClusterConfsService) {
    super(service);
  }
}
