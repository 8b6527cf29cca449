import { Module } from '@nestjs/common';
import { CloudEnvsController } from './cloud-envs.controller';
import { CloudEnvsModule } from './cloud-envs.module';
import { OnPremNodesController } from './onprem-nodes.controller';

@Module({ imports: [CloudEnvsModule], controllers: [CloudEnvsController, OnPremNodesController] })
export class CloudEnvsApiModule {}
