import { Module } from '@nestjs/common';
import { DependencyRepositoriesRepository } from './dependency-repositories.repository';
import { DependencyRepositoriesService } from './dependency-repositories.service';

@Module({
  providers: [DependencyRepositoriesService, DependencyRepositoriesRepository],
  exports: [DependencyRepositoriesService],
})
export class DependencyRepositoriesModule {}
