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
  notes: {
    create:
      'Network, credentials and image must be of the same provider. GCP, AWS and Azure also need a zone and cloud_project, OCI a zone, OnPrem an endpoint. Fields that the provider does not use are ignored. Reserved labels are added.',
    update: 'Every cluster that uses it must be DESTROYED or in ERROR. The provider never changes.',
    delete: 'Every cluster that uses it must be DESTROYED or in ERROR.',
  },
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
