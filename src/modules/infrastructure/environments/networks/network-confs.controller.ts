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
