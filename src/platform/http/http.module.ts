import { Global, Module } from '@nestjs/common';
import { UntrustedJson } from '../kernel/json/untrusted-json';
import { JsonParser } from './bodies/json-parser';
import { LiveAccess } from './auth/live-access';
import { LargeBodyTurns } from './bodies/large-body-turns';
import { RequestBodies } from './bodies/request-bodies';
import { Streams } from './connections/streams';
import { Upgrades } from './upgrades/upgrades';

/** Provides what all operations share: memory for bodies and slots for streams exist once per process. */
@Global()
@Module({
  providers: [LargeBodyTurns, JsonParser, LiveAccess, RequestBodies, Streams, UntrustedJson, Upgrades],
  exports: [JsonParser, LiveAccess, RequestBodies, Streams, UntrustedJson, Upgrades],
})
export class HttpModule {}
