import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { FrameWakeUps } from './frame-wakeups';
import { RequestWakeUps } from './request-wakeups';
import { RunChannelsRepository } from './run-channels.repository';
import { RunCallsService } from './run-calls.service';
import { RunChannelsService } from './run-channels.service';

@Module({
  imports: [DiscoveryModule],
  providers: [RunChannelsService, RunCallsService, RunChannelsRepository, FrameWakeUps, RequestWakeUps],
  exports: [RunChannelsService, RunCallsService, RunChannelsRepository],
})
export class RunChannelsModule {}
