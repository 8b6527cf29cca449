import type { DynamicModule, Type } from '@nestjs/common';

/**
 * Gives the whole process the adapter to a port of a lower domain, which is an abstract class that the lower domain injects.
 * A process that asks and has no adapter does not boot.
 */
export function bindPort<Q>(port: abstract new () => Q, adapter: Type<Q>): DynamicModule {
  class Binding {}
  return { module: Binding, global: true, providers: [{ provide: port, useClass: adapter }], exports: [port] };
}
