import { Module } from '@nestjs/common';
import { EventHub } from './event-hub';
import { EventsController } from './events.controller';
import { TransitionsRepository } from './transitions.repository';

@Module({
  providers: [EventHub, TransitionsRepository],
  controllers: [EventsController],
})
export class EventsApiModule {}
