import { Module } from '@nestjs/common';
import { RunChannelsModule } from './run-channels.module';
import { EndedChannelsSweeper } from './workflows/ended-channels-sweeper';

@Module({ imports: [RunChannelsModule], providers: [EndedChannelsSweeper] })
export class RunChannelsWorkerModule {}
