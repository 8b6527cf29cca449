import { PATH_METADATA } from '@nestjs/common/constants';
import type { DiscoveryService, MetadataScanner } from '@nestjs/core';

export interface RouteHandler {
  /** The controller. */
  type: { name: string; prototype: object };
  /** Name of the method. */
  name: string;
  handler: object;
}

/** Yields every method of a controller that has a route. */
export function* routeHandlers(discovery: DiscoveryService, scanner: MetadataScanner): Iterable<RouteHandler> {
  for (const { metatype: type } of discovery.getControllers()) {
    if (typeof type !== 'function') continue;
    const prototype = type.prototype as Record<string, unknown>;
    for (const name of scanner.getAllMethodNames(prototype)) {
      const handler = prototype[name];
      if (typeof handler !== 'function' || Reflect.getMetadata(PATH_METADATA, handler) === undefined) continue;
      yield { type: { name: type.name, prototype }, name, handler };
    }
  }
}
