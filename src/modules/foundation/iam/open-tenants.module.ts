import { Module } from '@nestjs/common';
import { OpenTenantsRepository } from './open-tenants.repository';
import { OpenTenantsService } from './open-tenants.service';

@Module({ providers: [OpenTenantsRepository, OpenTenantsService], exports: [OpenTenantsService] })
export class OpenTenantsModule {}
