import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { FrameWakeUps } from './frame-wakeups';
import { RequestWakeUps } from './request-wakeups';
import { RunChannelsRepository } from './run-channels.repository';
import { RunChannelsService } from './run-channels.service';

@Module({
  imports: [DiscoveryModule],
  providers: [RunChannelsService, RunChannelsRepository, FrameWakeUps, RequestWakeUps],
  exports: [RunChannelsService, RunChannelsRepository],
})
export class RunChannelsModule {}
