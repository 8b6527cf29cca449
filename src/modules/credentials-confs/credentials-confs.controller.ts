import { Controller } from '@nestjs/common';
import { Allow } from '../../platform/auth/access';
import { ADMINS } from '../../platform/auth/roles';
import { ResourceController } from '../../platform/resources/resource-controller';
import {
  CreateCredentialsConf,
  CredentialsConfListQuery,
  CredentialsConfRead,
  CredentialsConfSearchQuery,
  CredentialsConfSelector,
  CredentialsConfWrite,
  UpdateCredentialsConf,
} from './dto/credentials-conf.dto';
import { CredentialsConfsService } from './credentials-confs.service';

@Controller()
export class CredentialsConfsController extends ResourceController({
  one: 'CredentialsConf',
  many: 'CredentialsConfs',
  label: 'credentials configuration',
  tag: 'Infrastructure',
  path: '/credential_config',
  listPath: '/credential_configs',
  readAccess: Allow.tenant(),
  writeAccess: Allow.tenant(ADMINS),
  selector: CredentialsConfSelector,
  listQuery: CredentialsConfListQuery,
  searchQuery: CredentialsConfSearchQuery,
  partOfName: (query: CredentialsConfSearchQuery) => query.credentials_conf_name,
  create: CreateCredentialsConf,
  update: UpdateCredentialsConf,
  read: CredentialsConfRead,
  write: CredentialsConfWrite,
}) {
  constructor(service: CredentialsConfsService) {
    super(service);
  }
}
