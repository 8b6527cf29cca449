import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import type { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { OPERATION_METADATA, type OperationOptions } from './operation-options';
import { routeHandlers } from './route-handlers';
import { assertDistinctRoutes } from './route-ranks';

/** Returns every declared operation. Throws if a route has none, or if two share an operation id or could match one request. */
export function declaredOperations(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
  reflector: Reflector,
): OperationOptions[] {
  const operations = new Map<string, OperationOptions>();
  for (const { type, name, handler } of routeHandlers(discovery, scanner)) {
    const operation = reflector.get<OperationOptions | undefined>(OPERATION_METADATA, handler as () => unknown);
    if (!operation) {
      const verb = RequestMethod[Number(Reflect.getMetadata(METHOD_METADATA, handler))];
      throw new Error(`Route ${type.name}.${name} (${verb}) declares no authorization: use @Operation`);
    }
    if (operation.isUpgrade && operation.access.kind === 'public') {
      throw new Error(`The upgrade ${operation.id} admits everybody, but the caller must be known`);
    }
    if (operations.has(operation.id)) throw new Error(`Two routes have the operation id ${operation.id}`);
    operations.set(operation.id, operation);
  }
  assertDistinctRoutes([...operations.values()]);
  return [...operations.values()];
}
