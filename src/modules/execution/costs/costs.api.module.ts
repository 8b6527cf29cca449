import { Module } from '@nestjs/common';
import { CostsController } from './costs.controller';
import { RunCostsRepository } from './run-costs.repository';
import { RunCostsService } from './run-costs.service';

@Module({
  providers: [RunCostsRepository, RunCostsService],
  controllers: [CostsController],
})
export class CostsApiModule {}
