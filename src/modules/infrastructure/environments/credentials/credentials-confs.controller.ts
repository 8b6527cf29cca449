import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { CurrentScope } from '../../../../platform/http/auth/request-principal';
import { ADMINS } from '../../../../platform/kernel/auth/roles';
import { Responses, Operation } from '../../../../platform/http/operation';
import { ResourceController } from '../../../../platform/http/resources/resource-controller';
import {
  CreateCredentialsConf,
  CredentialsCheckQuery,
  CredentialsCheckResult,
  CredentialsConfListQuery,
  CredentialsConfRead,
  CredentialsConfSearchQuery,
  CredentialsConfSelector,
  CredentialsConfWrite,
  UpdateCredentialsConf,
} from './dto/credentials-conf.dto';
import { CredentialsCheckService } from './credentials-check.service';
import { CredentialsConfsService } from './credentials-confs.service';

@Controller()
export class CredentialsConfsController extends ResourceController({
  one: 'CredentialsConf',
  many: 'CredentialsConfs',
  label: 'credentials configuration',
  tag: 'Infrastructure',
  notes: {
    create:
      'The values are stored encrypted and never returned. Values with unknown or missing keys are refused; whether the provider accepts the values is checked by `checkCredentialsConf`.',
    update:
      'New values replace all old ones. The credential type never changes; values of another account are refused while nodes exist.',
    delete: 'No cloud environment, object storage manager or mount may use it, and no existing node may depend on it.',
  },
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
  constructor(
    service: CredentialsConfsService,
    private readonly checks: CredentialsCheckService,
  ) {
    super(service);
  }

  @Operation({
    method: 'POST',
    path: '/credential_config/check',
    id: 'checkCredentialsConf',
    isExtension: true,
    summary: 'Check with the provider whether the credentials work; nothing is changed',
    description:
      'Calls the provider with the stored values. Returns whether it accepts them, for which account, and which permissions to create nodes are missing. Nothing is changed.',
    tag: 'Infrastructure',
    access: Allow.tenant(ADMINS),
    response: Responses.one(CredentialsCheckResult),
  })
  check(@CurrentScope() scope: TenantScope, @Query() query: CredentialsCheckQuery): Promise<CredentialsCheckResult> {
    const { endpoint, region, cloud_project: cloudProject } = query;
    return this.checks.check(scope, query.selector(), { endpoint, region, cloudProject });
  }
}
