import type {
  CreateDependencyRepository,
  UpdateDependencyRepository,
} from '../../src/modules/infrastructure/storage/dependency-repositories/dto/dependency-repository.dto';
import type { DependencyRepository } from '../../src/modules/infrastructure/storage/dependency-repositories/entities/dependency-repository.entity';
import { sample } from './sample';

export const dependencyRepository = sample<
  CreateDependencyRepository,
  UpdateDependencyRepository,
  DependencyRepository
>({
  path: '/dependency-repository',
  table: 'dependency_repositories',
  body: () => ({ url: 'https://maven.example.org/releases/' }),
  change: { url: 'https://maven.example.org/others/' },
});
