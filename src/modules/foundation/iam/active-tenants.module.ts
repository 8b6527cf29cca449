import { Module } from '@nestjs/common';
import { ActiveTenantsRepository } from './active-tenants.repository';
import { ActiveTenantsService } from './active-tenants.service';

@Module({ providers: [ActiveTenantsRepository, ActiveTenantsService], exports: [ActiveTenantsService] })
export class ActiveTenantsModule {}
