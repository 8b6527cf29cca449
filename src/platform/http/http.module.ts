import { Global, Module } from '@nestjs/common';
import { JsonParser } from './bodies/json-parser';
import { RequestBodies } from './bodies/request-bodies';
import { Streams } from './connections/streams';

/** What the operations of all domains share: room for bodies and turns for streams are one for the process. */
@Global()
@Module({ providers: [JsonParser, RequestBodies, Streams], exports: [RequestBodies, Streams] })
export class HttpModule {}
