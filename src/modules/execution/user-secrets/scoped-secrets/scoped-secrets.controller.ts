import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import { InWorkspace } from '../../../../platform/http/auth/request-principal';
import { ADMINS } from '../../../../platform/kernel/auth/roles';
import { ResourceController } from '../../../../platform/http/resources/resource-controller';
import {
  CreateSecret,
  SecretSearchQuery,
  TenantSecretListQuery,
  TenantSecretRead,
  TenantSecretSelector,
  TenantSecretWrite,
  UpdateSecret,
  UserSecretListQuery,
  UserSecretRead,
  UserSecretSelector,
  UserSecretWrite,
  WorkspaceOfSecretQuery,
  WorkspaceSecretListQuery,
  WorkspaceSecretRead,
  WorkspaceSecretSearchQuery,
  WorkspaceSecretSelector,
  WorkspaceSecretWrite,
} from './dto/scoped-secret.dto';
import { SecretsOfTenantService } from './secrets-of-tenant.service';
import { SecretsOfUserService } from './secrets-of-user.service';
import { SecretsOfWorkspaceService } from './secrets-of-workspace.service';

const COMMON = {
  tag: 'Secrets',
  // No operation reads one secret: values cannot be read, and lists show the rest.
  single: false,
  deleteErrors: [409 as const],
  partOfName: (query: { secret_name: string }) => query.secret_name,
  create: CreateSecret,
  update: UpdateSecret,
};

@Controller()
export class TenantSecretsController extends ResourceController({
  ...COMMON,
  one: 'TenantSecret',
  many: 'TenantSecrets',
  label: 'secret of the tenant',
  labels: 'secrets of the tenant',
  ofHolder: '',
  path: '/tenant/secret',
  listPath: '/tenant/secrets',
  readAccess: Allow.tenant(),
  writeAccess: Allow.tenant(ADMINS),
  selector: TenantSecretSelector,
  listQuery: TenantSecretListQuery,
  searchQuery: SecretSearchQuery,
  read: TenantSecretRead,
  write: TenantSecretWrite,
}) {
  constructor(service: SecretsOfTenantService) {
    super(service);
  }
}

@Controller()
export class WorkspaceSecretsController extends ResourceController({
  ...COMMON,
  one: 'WorkspaceSecret',
  many: 'WorkspaceSecrets',
  label: 'secret of a workspace',
  labels: 'secrets of a workspace',
  ofHolder: '',
  path: '/workspace/secret',
  listPath: '/workspace/secrets',
  readAccess: Allow.workspace('VIEW'),
  writeAccess: Allow.workspace('MANAGE'),
  place: { scope: InWorkspace(), query: WorkspaceOfSecretQuery },
  selector: WorkspaceSecretSelector,
  listQuery: WorkspaceSecretListQuery,
  searchQuery: WorkspaceSecretSearchQuery,
  read: WorkspaceSecretRead,
  write: WorkspaceSecretWrite,
}) {
  constructor(service: SecretsOfWorkspaceService) {
    super(service);
  }
}

@Controller()
export class UserSecretsController extends ResourceController({
  ...COMMON,
  one: 'UserSecret',
  many: 'UserSecrets',
  label: 'secret of your own',
  labels: 'secrets of your own',
  ofHolder: ' in the tenant',
  path: '/user/secret',
  listPath: '/user/secrets',
  readAccess: Allow.tenant(),
  writeAccess: Allow.tenant(),
  selector: UserSecretSelector,
  listQuery: UserSecretListQuery,
  searchQuery: SecretSearchQuery,
  read: UserSecretRead,
  write: UserSecretWrite,
}) {
  constructor(service: SecretsOfUserService) {
    super(service);
  }
}
