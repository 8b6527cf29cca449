import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import { ADMINS } from '../../../../platform/kernel/auth/roles';
import { ResourceController } from '../../../../platform/http/resources/resource-controller';
import { DependencyRepositoriesService } from './dependency-repositories.service';
import {
  CreateDependencyRepository,
  DependencyRepositoryListQuery,
  DependencyRepositoryRead,
  DependencyRepositorySearchQuery,
  DependencyRepositorySelector,
  DependencyRepositoryWrite,
  UpdateDependencyRepository,
} from './dto/dependency-repository.dto';

@Controller()
export class DependencyRepositoriesController extends ResourceController({
  one: 'DependencyRepository',
  many: 'DependencyRepositories',
  label: 'dependency repository',
  labels: 'dependency repositories',
  tag: 'Infrastructure',
  // The contract only lets clusters and job configurations name repositories.
  isExtension: true,
  notes: {
    create: 'Jobs of the tenant may load packages from it. A tenant has at most 100.',
    update: 'Jobs that already run keep what they have loaded.',
    delete: 'It can always be deleted; jobs that need it are refused when they start.',
  },
  path: '/dependency-repository',
  listPath: '/dependency-repositories',
  readAccess: Allow.tenant(),
  writeAccess: Allow.tenant(ADMINS),
  selector: DependencyRepositorySelector,
  listQuery: DependencyRepositoryListQuery,
  searchQuery: DependencyRepositorySearchQuery,
  partOfName: (query: DependencyRepositorySearchQuery) => query.dependency_repository_name,
  create: CreateDependencyRepository,
  update: UpdateDependencyRepository,
  read: DependencyRepositoryRead,
  write: DependencyRepositoryWrite,
}) {
  constructor(service: DependencyRepositoriesService) {
    super(service);
  }
}
