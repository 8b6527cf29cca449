import { Module } from '@nestjs/common';
import { CloudEnvsController } from './cloud-envs.controller';
import { CloudEnvsModule } from './cloud-envs.module';

@Module({ imports: [CloudEnvsModule], controllers: [CloudEnvsController] })
export class CloudEnvsApiModule {}
