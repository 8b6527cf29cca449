import { Module } from '@nestjs/common';
import { OpenTenantsService } from './open-tenants.service';

@Module({ providers: [OpenTenantsService], exports: [OpenTenantsService] })
export class OpenTenantsModule {}
