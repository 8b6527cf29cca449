import type { NestApplicationOptions } from '@nestjs/common';

/** How Nest registers routes: of two that match, the more literal one first, wherever they are declared. */
export const ROUTE_OPTIONS = { routeResolutionStrategy: 'specificity' } satisfies NestApplicationOptions;
