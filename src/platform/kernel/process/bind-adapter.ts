import type { DynamicModule, Type } from '@nestjs/common';

/**
 * Binds a port, an abstract class that a lower domain injects, to the adapter of a higher domain, for the whole process.
 * A process that injects a port without an adapter does not boot.
 */
export function bindAdapter<Q>(port: abstract new () => Q, adapter: Type<Q>): DynamicModule {
  class Binding {}
  return { module: Binding, global: true, providers: [{ provide: port, useClass: adapter }], exports: [port] };
}
