import { Global, Module } from '@nestjs/common';
import { JsonParser } from './bodies/json-parser';
import { LargeBodyTurns } from './bodies/large-body-turns';
import { RequestBodies } from './bodies/request-bodies';
import { Streams } from './connections/streams';

/** What the operations of all domains share: room for bodies and turns for streams are one for the process. */
@Global()
@Module({ providers: [LargeBodyTurns, JsonParser, RequestBodies, Streams], exports: [RequestBodies, Streams] })
export class HttpModule {}
