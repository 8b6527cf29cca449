import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import { ADMINS } from '../../../../platform/kernel/auth/roles';
import { ResourceController } from '../../../../platform/http/resources/resource-controller';
import {
  CreateCloudEnv,
  CloudEnvListQuery,
  CloudEnvRead,
  CloudEnvSearchQuery,
  CloudEnvSelector,
  CloudEnvWrite,
  UpdateCloudEnv,
} from './dto/cloud-env.dto';
import { CloudEnvsService } from './cloud-envs.service';

@Controller()
export class CloudEnvsController extends ResourceController({
  one: 'CloudEnv',
  many: 'CloudEnvs',
  label: 'cloud environment',
  tag: 'Infrastructure',
  path: '/cluster/cloud/environment',
  listPath: '/cluster/cloud/environments',
  readAccess: Allow.tenant(),
  writeAccess: Allow.tenant(ADMINS),
  selector: CloudEnvSelector,
  listQuery: CloudEnvListQuery,
  searchQuery: CloudEnvSearchQuery,
  partOfName: (query: CloudEnvSearchQuery) => query.cloud_env_name,
  create: CreateCloudEnv,
  update: UpdateCloudEnv,
  read: CloudEnvRead,
  write: CloudEnvWrite,
}) {
  constructor(service: CloudEnvsService) {
    super(service);
  }
}
