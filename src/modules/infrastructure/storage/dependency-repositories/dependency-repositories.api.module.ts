import { Module } from '@nestjs/common';
import { DependencyRepositoriesController } from './dependency-repositories.controller';
import { DependencyRepositoriesModule } from './dependency-repositories.module';

@Module({ imports: [DependencyRepositoriesModule], controllers: [DependencyRepositoriesController] })
export class DependencyRepositoriesApiModule {}
