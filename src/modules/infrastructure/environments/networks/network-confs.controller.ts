import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import { ADMINS } from '../../../../platform/kernel/auth/roles';
import { ResourceController } from '../../../../platform/http/resources/resource-controller';
import {
  CreateNetworkConf,
  NetworkConfListQuery,
  NetworkConfRead,
  NetworkConfSearchQuery,
  NetworkConfSelector,
  NetworkConfWrite,
  UpdateNetworkConf,
} from './dto/network-conf.dto';
import { NetworkConfsService } from './network-confs.service';

@Controller()
export class NetworkConfsController extends ResourceController({
  one: 'NetworkConf',
  many: 'NetworkConfs',
  label: 'network configuration',
  tag: 'Infrastructure',
  notes: {
    create:
      'GCP, AWS and Azure need network_project_id, network_name, subnet and availability_zone_id; OCI needs the same without network_project_id; OnPrem needs bridge and model. Fields that the provider does not use are ignored.',
    update:
      'While a cluster that uses it is neither DESTROYED nor in ERROR, only name and description can change. The provider never changes.',
    delete: 'No cloud environment may use it.',
  },
  path: '/machine/network',
  listPath: '/machine/networks',
  readAccess: Allow.tenant(),
  writeAccess: Allow.tenant(ADMINS),
  selector: NetworkConfSelector,
  listQuery: NetworkConfListQuery,
  searchQuery: NetworkConfSearchQuery,
  partOfName: (query: NetworkConfSearchQuery) => query.network_conf_name,
  create: CreateNetworkConf,
  update: UpdateNetworkConf,
  read: NetworkConfRead,
  write: NetworkConfWrite,
}) {
  constructor(service: NetworkConfsService) {
    super(service);
  }
}
